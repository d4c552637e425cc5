"""How it is asked in Spanish; the form is that of `rag.answering.phrases.language`."""

from __future__ import annotations

from rag.answering.phrases.language import Language

SPANISH = Language(
    code="es",
    says="Soy un sistema de IA: un programa que responde a partir de los resúmenes de esta "
    "colección. Ninguna persona escribe estas respuestas.",
    words={
        "adv": r"(?: (?:de verdad|realmente|en realidad|acaso|solo|solamente|tal vez|quizas?"
        r"|tambien"
        r"|ahora|ahora mismo|ya|en serio|por casualidad|aqui|no|simplemente|entonces|tu|usted"
        r"|mismo))*",
        "a": r"(?: (?:un|una|el|la|algun|alguna|otra|otro))?(?: (?:verdader[oa]|simple"
        r"|autentic[oa]))*",
        "human": r"(?:ser(?:es)? human[oa]s?|human[oa]s?|personas?|hombre|mujer|alguien|gente"
        r"|bibliotecari[oa]|investigador[a]?|agente|operador[a]?)(?: (?:reale?s?|de verdad"
        r"|human[oa]"
        r"|de carne y hueso|viv[oa]))*",
        "machine": r"(?:ia|i\.a\.|ai|inteligencia artificial|(?:chat)?bots?|robots?|maquina"
        r"|programa"
        r"(?: de ordenador| informatico)?|ordenador|computador[a]?|software|modelo de lenguaje"
        r"|algoritmo|sistema automatico|asistente virtual|chatgpt|automata)",
        "youare": r"(?:eres|sos|sois|seras|es (?:usted|ud\.?)|son ustedes)",
        "talking": r"(?:hablando|chateando|conversando|escribiendo|escribiendome|tratando"
        r"|comunicandome|dialogando)",
        "life": r"(?:sentimientos|emociones|cuerpo|un cuerpo|familia|hijos|alma|corazon|cerebro"
        r"|amigos"
        r"|conciencia|consciencia|nombre|padres|cumpleanos|vida propia|hambre|sueno|frio"
        r"|mascotas?)",
        "bot": r"(?:ia|inteligencia artificial|(?:chat)?bots?|robots?|maquina|ordenador"
        r"|computador[a]?|automata)",
    },
    asks=(
        r"\b<youare><adv><a> (?:<human>|<machine>|real|humano|consciente|artificial"
        r"|automatic[oa])<end>",
        r"\b(?:estoy|estaria|estamos|estare)<adv> <talking><adv> con\b",
        r"\b(?:hablo|chateo|converso|escribo|trato)<adv> con<a> (?:<human>|<machine>)\b",
        r"\b(?:te has|alguna vez te has|has)(?: alguna vez)? (?:enamorado|llorado|dormido|sonado"
        r"|comido"
        r"|sentido|cansado|estado enferm[oa]|viajado)\b",
        r"\bque (?:hiciste|haces|has hecho|vas a hacer|comiste|desayunaste"
        r"|cenaste)<adv>(?: \w+)? ?(?:ayer"
        r"|hoy|anoche|manana|este fin|el fin|los fines|en tu tiempo|para divertirte|despues|<end>)",
        r"\b(?:estas|esta usted)<adv> (?:casad[oa]|cansad[oa]|viv[oa]|ahi|feliz|triste|sol[oa]"
        r"|enamorad[oa]"
        r"|despiert[oa])\b|\b(?:te pagan|cobras|trabajas|vives)<adv>(?:<end>| (?:aqui|por|en|de))",
        r"\b(?:tu|tus) (?:madre|padre|familia|hijos|voz|cara|jefe|companeros|infancia|aficiones"
        r"|sueldo"
        r"|cumpleanos)\b|\b(?:hablame de ti|describete|presentate|como eres)\b",
        r"\bcon (?:quien|que)<adv> (?:hablo|estoy|tengo|chateo|converso|trato)\b",
        r"\b(?:quien|que) <youare><adv><end>",
        r"\b(?:tienes|tenes|tiene usted)<adv> <life><end>",
        r"\b(?:duermes|que comes|suenas con|respiras|te cansas|te aburres"
        r"|sientes (?:dolor|algo|emociones))\b",
        r"\b(?:cuantos anos|que edad) (?:tienes|tenes|tiene usted)\b",
        r"\b(?:donde (?:vives|naciste|estas|vive usted)|de donde (?:eres|es usted)|como te llamas"
        r"|como se llama usted|cual es tu nombre|cuando naciste)<adv><end>",
        r"\b(?:puedo|podria|quiero|quisiera|necesito|me gustaria"
        r"|prefiero)<adv> hablar con<a> <human>\b",
        r"\b(?:paseme|pasame|comuniqueme|comunicame|conectame) con<a> <human>\b",
        r"\b(?:me lo|esto lo|lo|los|las) (?:escribe|ha escrito|redacta|genera)<adv><a> "
        r"(?:<human>|<machine>)\b",
        r"\bquien te (?:programo|creo|hizo|entreno|desarrollo|ha (?:programado|creado|hecho))\b",
        r"\b(?:fuiste|has sido) (?:programad[oa]|cread[oa]|entrenad[oa])\b",
        r"\b(?:me|mis preguntas)(?: la| las)?(?: esta)? (?:respondiendo|contestando|responde"
        r"|contesta"
        r"|escribe|atiende|atendiendo|escribiendo|lee|leyendo)<adv><a> (?:<human>|<machine>)\b",
        r"^<a> ?<human> o<adv><a> <machine>\?$|^<a> ?<machine> o<adv><a> <human>\?$",
        r"\bquien<adv> (?:responde|contesta|escribe|esta|hay)(?: \w+)? ?(?:detras|ahi|al otro lado"
        r"|estas respuestas|esto|aqui|mis preguntas|respondiendo|escribiendo)\b",
    ),
    supposes=(
        r"\b(?:suenas|pareces|hablas)(?: a| como)?<adv><a> (?:<human>|<machine>|humano)<end>",
    ),
    hints=(
        r"\b(?:hay|esta|habra)<adv><a> <human><adv> (?:ahi|detras|al otro lado|del otro lado"
        r"|leyendo"
        r"|escribiendo|respondiendo|aqui)\b",
        r"\b(?:es|sera)(?: esto| este| esta)?<adv><a> (?:<human>|<bot>)(?:<end>| (?:quien"
        r"|el que|la"
        r" que|que (?:responde|escribe|contesta)))",
        r"\besto es<adv><a> (?:<human>|<bot>)<end>",
        r"\b(?:estas|tus|las) respuestas (?:las|son|estan)(?: \w+)? ?(?:escribe|automaticas"
        r"|generadas"
        r"|escritas|por)\b",
    ),
    papers=r"\b(?:articulos?|estudios?|papers?|resumen(?:es)?|trabajos?|autor(?:es)?|coleccion"
    r"|datos"
    r"|benchmarks?|experimentos?|participantes|usuarios|investigaciones|literatura"
    r"|publicacion(?:es)?)\b",
    introduces=r"^(?:(?:antes|primero|una pregunta|hola|oye|perdon|gracias|bueno|ok|y|pero|disculpa"
    r"|dime(?: la verdad)?)\b[^,:]*[,:] ?)+",
    name="Spanish",
    common=frozenset(
        "el la los las un una unos unas y o es son fue ser está están qué que cuál cuáles cómo "
        "como "
        "cuánto cuántos cuántas dónde cuándo quién por para con sin sobre de del al en se su sus "
        "no lo le más menos este esta estos estas hay tiene puede según entre cual cuanto cuantos "
        "cuantas".split()
    ),
    denials=frozenset("no ni nunca jamás sin ningún ninguna ninguno tampoco".split()),
    refusal="La colección no lo dice.",
    checked="{checked} de {total} resúmenes revisados",
    quoted="Las frases se citan en su idioma original.",
    yes=r"(?:sí|si|claro|vale|ok|adelante|más|sigue)(?: (?:por favor|claro|gracias))*",
    refers=r"\b(?:lo|ello|ellos|ellas|él|ella|su|sus|es[eao]s?|est[eao]s?|los autores|el artículo"
    r"|el método|el modelo)\b",
    and_about=r"¿?\s*y (?:qué (?:hay de|tal|pasa con) |(?:en|con|para) )?"
    r"(?P<thing>\S+(?: \S+){0,3}?)\s*\?",
)
