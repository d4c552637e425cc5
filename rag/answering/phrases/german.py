"""How it is asked in German; the form is that of `rag.answering.phrases.language`."""

from __future__ import annotations

from rag.answering.phrases.language import Language

GERMAN = Language(
    code="de",
    says="Ich bin ein KI-System: ein Programm, das aus den Zusammenfassungen dieser Sammlung "
    "antwortet. Kein Mensch schreibt diese Antworten.",
    words={
        "adv": r"(?: (?:eigentlich|wirklich|denn|nun|jetzt|etwa|echt|tatsachlich|uberhaupt"
        r"|vielleicht"
        r"|auch|nur|bloss|ehrlich|mal|also|da|hier|nicht|selbst|doch|gerade|wohl|sicher|so|schon|ja"
        r"|bitte|gar))*",
        "a": r"(?: (?:k?ein(?:e|em|en|er)?|n|'n|ne|der|die|das|irgendein(?:e|em|en)?))?"
        r"(?: (?:echt|richtig|wirklich|real|lebendig|lebend|menschlich|normal|virtuell|kunstlich"
        r"|blod|reine|rein)(?:e[rnms]?)?)*",
        "human": r"(?:menschen?(?:wesen)?|mensch|person(?:en)?|leute|mann|frau|mitarbeiter(?:in"
        r"|s)?|jemand(?:em|en)?|irgendwer"
        r"|irgendjemand|bibliothekar(?:in)?|forscher(?:in)?|menschliches wesen"
        r"|lebewesen)(?: (?:echtes|reales|lebendiges|echten))?",
        "machine": r"(?:ki|k\.i\.|ai|kunstliche intelligenz|(?:chat|ro)?bots?|chat-bot|roboter"
        r"|maschine|computer(?:programm)?|programm|software|sprachmodell|automat|algorithmus"
        r"|chatgpt|assistenzsystem|ki-system)",
        "youare": r"(?:bist(?: du|e)?|sind sie|seid ihr)",
        "talk": r"(?:sprech|red|schreib|chatt|unterhalt|kommunizier|plauder|hab)e?",
        "bot": r"(?:ki|(?:chat|ro)?bots?|chat-bot|roboter|maschine|computer|automat)",
    },
    asks=(
        r"\b<youare><adv><a> (?:<human>|<machine>|echt|real|menschlich|lebendig|kunstlich"
        r"|automatisch|bewusst)<end>",
        r"\b<talk> ich<adv>(?: mich)?<adv> (?:mit|es mit|zu)\b",
        r"\bmit (?:wem|was)<adv> <talk> ich\b",
        r"\bbin ich<adv> mit<a> (?:<human>|<machine>)<adv> (?:verbunden|in kontakt)\b",
        r"(?:^|[:,] ?)<a> ?(?:mensch|person) oder<adv><a> <machine>\??$",
        r"(?:^|[:,] ?)<a> ?<machine> oder<adv><a> (?:mensch|person)\??$",
        r"\bhast du<adv>(?: mal| manchmal)? (?:hunger|durst|angst|schmerzen|urlaub|langeweile"
        r"|heimweh)\b",
        r"\bwerde ich<adv> von<a> (?:<human>|<machine>)\b",
        r"\bhabe ich<adv> es<adv> mit\b|\bes<adv> mit<a> (?:<human>|<machine>)<adv> zu tun\b",
        r"\bwas (?:hast du|haben sie|machst du|machen sie)<adv>(?: \w+)? ?(?:gestern|heute|morgen"
        r"|am wochenende|zum fruhstuck|in deiner freizeit|beruflich|nach feierabend|abend)",
        r"\b(?:bist du|sind sie)<adv> (?:mude|verheiratet|mannlich|weiblich|glucklich|traurig"
        r"|einsam"
        r"|hungrig|verliebt|wach|zuhause|angestellt|bezahlt)\b",
        r"\b(?:warst du|hast du)<adv>(?: schon)?(?: ein)?mal<adv> (?:verliebt|geweint|getraumt"
        r"|krank"
        r"|geschlafen|im)\b|\bwirst du<adv> bezahlt\b|\bverdienst du\b",
        r"\b(?:deine|ihre?) (?:mutter|vater|familie|kinder|stimme|hobbys|chefin|kollegen|eltern)\b",
        r"\b(?:arbeitest du|lebst du|wohnst du|magst du|liebst du|existierst du)\b"
        r"|\bwie fuhl(?:st du"
        r"|t es sich an, du)\b|\b(?:erzahl|beschreib)\w*(?: mir)?(?: etwas| was)? (?:von "
        r"|uber )?dich\b",
        r"\bob ich<adv>(?: mich)?<adv> mit<a> (?:<human>|<machine>)\b",
        r"\b(?:wer|was) (?:bist du|sind sie|seid ihr)<adv><end>",
        r"\b(?:ob|dass|wenn) (?:du|sie|ihr)<adv><a> (?:<human>|<machine>|echt|menschlich) "
        r"(?:bist|sind|seid)\b",
        r"\b(?:hast du|haben sie)<adv>(?: eine?n?| k?eine?n?)? (?:gefuhle?|emotionen|korper|herz"
        r"|seele"
        r"|familie|kinder|namen?|bewusstsein|freunde|hobbys|geburtstag|eltern|gehirn|feierabend"
        r"|haustiere?)<end>",
        r"\b(?:schlafst|isst|traumst|atmest|fuhlst|trinkst|stirbst) du\b",
        r"\b(?:schlafen|essen|traumen|atmen|trinken) sie<adv><end>",
        r"\b(?:wirst du|werden sie)<adv>(?: nie| manchmal| je| jemals)? (?:mude|hungrig|krank)\b",
        r"\bwie (?:alt (?:bist du|sind sie)|heisst du|heissen sie|ist (?:dein|ihr) name)\b",
        r"\bwo(?:her)? (?:wohnst du|wohnen sie|kommst du|kommen sie|lebst du"
        r"|leben sie)<adv>(?: her)?"
        r"<end>",
        r"\bwann (?:wurdest du|bist du|wurden sie|sind sie) geboren\b",
        r"\bwer (?:hat (?:dich|sie)|steckt hinter (?:dir|ihnen))(?: \w+)? ?(?:programmiert|gebaut"
        r"|entwickelt|trainiert|erschaffen|gemacht|$|\?)",
        r"\bwurdest du<adv> (?:programmiert|trainiert|gebaut|entwickelt)\b",
        r"\b(?:kann|konnte|darf) ich<adv>(?: auch)? mit<a> (?:<human>|menschlichen \w+)<adv> "
        r"(?:sprechen|reden|schreiben|chatten)\b",
        r"\b(?:mochte|will|wurde(?: gern(?:e)?)?)<adv>(?: gern(?:e)?| lieber)? mit<a> <human><adv> "
        r"(?:sprechen|reden|schreiben|chatten)\b",
        r"\bverbinde(?:n sie)? mich<adv> mit<a> <human>\b",
        r"\b(?:antwortet|schreibt|liest|sitzt|spricht|tippt)(?: mir)?<adv>(?: mir)?<a> "
        r"(?:<human>|<machine>)\b",
        r"\bwer (?:schreibt|antwortet|beantwortet|tippt|sitzt|steckt)<adv>(?: mir)? ?(?:mir|hier|da"
        r"|dahinter|diese|das|meine|am anderen|vor dem|auf meine)\b",
    ),
    supposes=(
        r"\b(?:du bist|sie sind|du klingst wie|sie klingen wie|du wirkst wie)<adv><a> "
        r"(?:<human>|<machine>|echt|menschlich)<end>",
    ),
    hints=(
        r"\b(?:ist|war) (?:das|dies|hier|da)<adv><a> (?:<human>|<bot>)(?:<end>| (?:dran|der|die"
        r"|am|hinter|dahinter))",
        r"\b(?:gibt es|ist)(?: hier| da| dort)*<adv><a> <human>(?: hier| da| dort)? (?:dahinter"
        r"|hinter"
        r"|am anderen ende|dran)\b",
        r"\b(?:werden|wurden|sind|ist|wird) (?:deine|diese|die|ihre) antwort(?:en)?<adv> (?:von<a> "
        r"(?:<human>|<bot>)|automatisch|maschinell)",
    ),
    papers=r"\b(?:arbeit(?:en)?|artikel|papers?|studien?|abstracts?|zusammenfassung(?:en)?"
    r"|autor(?:en)?"
    r"|datens(?:atz|atze)|benchmarks?|sammlung|publikation(?:en)?|literatur|experimente?|nutzer"
    r"|probanden"
    r"|forscher (?:fragen|untersuchen))\b",
    introduces=r"^(?:(?:bevor|zuerst|kurze frage|eine frage|hallo|hi|hey|moment|danke|ok|okay|gut"
    r"|also"
    r"|und|sag mal|entschuldigung|vorab)\b[^,:]*[,:] ?)+",
    name="German",
    common=frozenset(
        "der die das den dem des ein eine einen einem einer und oder ist sind war wird werden "
        "wurde "
        "wie was wer wo wann warum welche welcher welches welchen wieviel wieviele nicht kein "
        "keine "
        "mit von vom zu zum zur auf aus bei für über unter durch gegen ohne es sie ihr ihre sein "
        "auch noch im am beim dieser diese dieses haben hat kann gibt viele viel man erreicht "
        "verwendet".split()
    ),
    denials=frozenset("nicht kein keine keinen keinem keiner nie niemals ohne weder".split()),
    refusal="Die Sammlung sagt dazu nichts.",
    checked="{checked} von {total} Abstracts geprüft",
    quoted="Die Sätze sind im Original zitiert.",
    yes=r"(?:ja|gern|gerne|klar|ok|okay|weiter|mehr)(?: (?:bitte|gern|gerne|davon|dazu))*",
    refers=r"\b(?:es|sie|ihn|ihm|dessen|deren|ihre|ihr|sein|seine|diese[srmn]?|dieses|davon|dabei"
    r"|dazu|damit|dort|die autoren|das papier|die methode|der ansatz)\b",
    and_about=r"und (?:was ist mit |wie ist es (?:mit|bei) |(?:bei|für|mit|auf|in) )?"
    r"(?P<thing>\S+(?: \S+){0,3})\?",
)
