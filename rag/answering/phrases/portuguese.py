"""How it is asked in Portuguese; the form is that of `rag.answering.phrases.language`."""

from __future__ import annotations

from rag.answering.phrases.language import Language

PORTUGUESE = Language(
    code="pt",
    says="Sou um sistema de IA: um programa que responde a partir dos resumos desta coleção. "
    "Nenhuma pessoa escreve estas respostas.",
    words={
        "adv": r"(?: (?:mesmo|realmente|de verdade|na verdade|so|apenas|talvez|tambem|agora|ai|ja"
        r"|por acaso|nao|aqui|entao|neste momento))*",
        "a": r"(?: (?:um|uma|o|a|algum|alguma|outra))?(?: (?:verdadeir[oa]|simples|mer[oa]))*",
        "human": r"(?:ser(?:es)? humanos?|human[oa]s?|pessoas?|homem|mulher|alguem|gente|atendente"
        r"|bibliotecari[oa]|pesquisador[a]?)(?: (?:reais|real|de verdade|human[oa]|de carne e osso"
        r"|viv[oa]))*",
        "machine": r"(?:ia|i\.a\.|ai|inteligencia artificial|(?:chat)?bots?|robos?|maquina|programa"
        r"(?: de computador)?|computador|software|modelo de linguagem|algoritmo|sistema automatico"
        r"|assistente virtual|chatgpt)",
        "you": r"(?:voces?|vc|tu|o senhor|a senhora)",
        "talking": r"(?:falando|conversando|teclando|escrevendo|tratando|lidando|a falar"
        r"|a conversar"
        r"|a escrever)",
        "life": r"(?:sentimentos|emocoes|um corpo|corpo|familia|filhos|alma|coracao|cerebro|amigos"
        r"|consciencia|um nome|pais|fome|sono|animais)",
        "bot": r"(?:ia|inteligencia artificial|(?:chat)?bots?|robos?|maquina|computador)",
    },
    asks=(
        r"\bes<adv><a> (?:<human>|<machine>|real|humano)<end>",
        r"\b(?:se|que) <you> (?:e|es)<adv><a> (?:<human>|<machine>|real|humano)<end>",
        r"\b(?:estou|to|tou|estamos|estarei)<adv> <talking><adv> com\b",
        r"\b(?:falo|converso|escrevo)<adv> com<a> (?:<human>|<machine>)\b",
        r"\b(?:voce|vc) (?:ja|alguma vez) (?:se apaixonou|chorou|dormiu|sonhou|comeu|viajou"
        r"|ficou doente)\b",
        r"\bo que (?:voce|vc) (?:fez|faz|comeu|vai fazer)<adv>(?: \w+)? ?(?:ontem|hoje|amanha"
        r"|no fim|nos"
        r" fins|no tempo|para se divertir|depois|<end>)",
        r"\b(?:voce|vc) (?:esta|e)<adv> (?:casad[oa]|cansad[oa]|viv[oa]|ai|feliz|triste"
        r"|sozinh[oa]|pag[oa])\b",
        r"\b(?:voce|vc) (?:trabalha|mora|vive|gosta de trabalhar|recebe)\b",
        r"\b(?:sua|seu|tua|teu|seus|teus) (?:mae|pai|familia|filhos|voz|rosto|chefe|colegas"
        r"|infancia"
        r"|salario|aniversario)\b|\b(?:fale|me fale|fala) (?:sobre|de) (?:voce|ti|si)\b",
        r"\bcom quem<adv>(?: e que)?(?: eu)?<adv> (?:falo|estou|converso|to|tou|tenho)\b",
        r"\b(?:quem|o que|que) (?:e|es|sao) (?:voces?|vc|tu|o senhor|a senhora)<adv><end>",
        r"\b<you> e (?:quem|o que)<adv><end>",
        r"\bquem es<adv><end>",
        r"\b(?:<you> tem|tens|tem voce)<adv> <life><end>",
        r"\b(?:<you>(?: nunca)? (?:dorme|come|sonha|respira|se cansa|fica cansad[oa])|dormes|sonhas"
        r"|te cansas)\b",
        r"\b(?:quantos anos (?:voce tem|vc tem|tens|tem)|qual (?:e )?(?:a )?sua idade"
        r"|onde (?:voce mora"
        r"|voce nasceu|moras|vives|voce vive)|qual (?:e )?(?:o )?(?:seu|teu) nome"
        r"|como (?:voce se chama"
        r"|te chamas)|de onde (?:voce e|es))<adv><end>",
        r"\b(?:posso|poderia|quero|queria|gostaria de|preciso|prefiro)<adv> falar com<a> <human>\b",
        r"\bquem (?:te|o|a) (?:criou|programou|fez|treinou|desenvolveu)|\bquem (?:criou|programou"
        r"|fez"
        r"|treinou|desenvolveu) (?:voce|vc)\b",
        r"\bvoce foi (?:programad[oa]|criad[oa]|treinad[oa])\b",
        r"\bquem<adv> (?:me )?(?:responde|escreve) e<adv><a> (?:<human>|<machine>)",
        r"^<a> ?<human> ou<adv><a> <machine>\?$|^<a> ?<machine> ou<adv><a> <human>\?$",
        r"\bquem<adv> (?:responde|escreve|esta|fica)(?: \w+)? ?(?:atras|por tras|ai|do outro lado"
        r"|estas respostas|essas respostas|isto|isso|aqui|minhas perguntas|respondendo"
        r"|escrevendo)\b",
    ),
    supposes=(
        r"\b<you>(?: (?:nao|so))? (?:e|parece|soa)(?: como)?<adv><a> (?:<human>|<machine>|real"
        r"|humano)"
        r"<end>",
    ),
    hints=(
        r"\b(?:isso|isto) e<adv><a> respostas? automatic",
        r"\b(?:tem|ha|existe|esta)<adv><a> <human><adv> (?:ai|por tras|atras|do outro lado"
        r"|respondendo"
        r"|escrevendo|lendo|a responder|aqui)\b",
        r"\b(?:isso|isto|aqui) (?:e|aqui e)<adv><a> (?:<human>|<bot>)<end>",
        r"\b(?:e|sera)<adv><a> (?:<human>|<bot>) (?:que|quem) (?:responde|escreve|esta)",
        r"\b(?:estas|essas|suas|as) respostas (?:sao|foram)<adv> (?:automaticas|geradas"
        r"|escritas)\b",
    ),
    papers=r"\b(?:artigos?|estudos?|papers?|resumos?|trabalhos?|autor(?:es)?|colecao|dados"
    r"|benchmarks?"
    r"|experimentos?|participantes|usuarios|utilizadores|pesquisas?|literatura|publicac(?:ao"
    r"|oes))\b",
    introduces=r"^(?:(?:antes|primeiro|uma pergunta|ola|oi|desculpe|obrigad[oa]|bom|ok|e|mas"
    r"|diga-me"
    r"|me diga)\b[^,:]*[,:] ?)+",
    name="Portuguese",
    common=frozenset(
        "o a os as um uma e ou é são foi ser está que qual quais como quanto quantos quantas onde "
        "quando quem por para com sem sobre de do da dos das ao em no na nos nas se seu sua não "
        "mais este esta há tem pode entre".split()
    ),
    denials=frozenset("não nem nunca jamais sem nenhum nenhuma".split()),
    refusal="A coleção não diz.",
    checked="{checked} de {total} resumos verificados",
    quoted="As frases são citadas no idioma original.",
    yes=r"(?:sim|claro|ok|continue|mais)(?: (?:por favor|obrigad[oa]))*",
    refers=r"\b(?:ele|ela|eles|elas|seu|sua|seus|suas|isso|isto|este|esta|os autores|o artigo)\b",
    and_about=r"e (?:quanto a |(?:em|com|para) )?(?P<thing>\S+(?: \S+){0,3}?)\s*\?",
)
