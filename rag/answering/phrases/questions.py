r"""How people ask for each kind of answer, kind by kind and language by language; data, no logic.

A phrase is a regular expression that is searched in a question in its normal form (see
`rag.text.normalise`: small letters, no accents on Latin ones) without opening signs, courtesy and
what stands in quotation marks. `<name>` stands for one of `WORDS`. Kinds are tried in the order
that they have here. What is missed is taken for a plain question, and answered as one.
"""

from __future__ import annotations

from collections.abc import Mapping

from rag.schema import Kind

WORDS: Mapping[str, str] = {
    "papers": r"(?:papers|abstracts|articles|studies|works|publications|records|documents"
    r"|preprints|manuscripts)",
    "arbeiten": r"(?:arbeiten|artikeln?|studien|papiere|publikationen|aufsatze|paper|abstracts"
    r"|veroffentlichungen)",
    "articulos": r"(?:articulos|estudios|trabajos|publicaciones|documentos|papers|resumenes)",
    "travaux": r"(?:articles|etudes|travaux|publications|documents|papiers|resumes)",
    "lunwen": "(?:论文|論文|文章|文献|文獻|研究|摘要)",
    "owned": r"(?: (?:in|of|from) (?:the|this|my|our|your) (?:collection|library|index|corpus))?",
    "some": r"(?:any|some|other|no)",
}

PHRASES: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "count",
        (
            r"\b(?:how many|(?:what is )?the number of|count) (?:of )?(?:all |the |these |those "
            r"|your |our |my |different |such )*(?:[\w-]+ ){0,2}?<papers>\b(?! (?:does|did) )",
            r"\bwie viele (?:der |dieser )?<arbeiten>\b",
            r"\bcuantos (?:de (?:los|estos) )?<articulos>\b|\bcuantas publicaciones\b",
            r"\bcombien d(?:e |'|es )<travaux>\b",
            r"(?:多少|几)(?:篇|个|份)?(?:的)?<lunwen>|<lunwen>[^?？。]{0,12}(?:多少篇|几篇)",
        ),
    ),
    (
        "agreement",
        (
            r"\b(?:do|does|did)\b.{0,40}\b<papers>\b.{0,40}\b(?:dis)?agree\b",
            r"\b(?:do|does|did) (?:the )?(?:authors|researchers|results|findings|sources)\b.{0,40}"
            r"\b(?:(?:dis)?agree|contradict|conflict)\b",
            r"\b<papers>\b.{0,40}\bcontradict\b",
            r"\b(?:is|are) there (?:an? |any )?(?:agreement|disagreement|consensus|contradictions?"
            r"|controversy|conflicting|debate)\b",
            r"\b(?:is|are) there (?:any )?evidence (?:that|for|against)\b",
            r"\b(?:evidence|arguments?|support) (?:both )?for (?:and|or) against\b"
            r"|\bfor and against\b|\bpros and cons\b",
            r"\b(?:where|on what|why) do\b.{0,30}\b<papers>\b.{0,20}\bdisagree\b",
            r"\b(?:sind sich|stimmen)\b.{0,40}\b<arbeiten>\b.{0,60}\b(?:einig|uberein)\b"
            r"|\bwidersprechen sich\b",
            r"\b(?:estan|coinciden)\b.{0,60}\b(?:de acuerdo|<articulos>)|\bse contradicen\b",
            r"\b(?:sont|est)[ -](?:ils|elles)? ?d'accord\b|\bse contredisent\b"
            r"|\b<travaux>\b.{0,40}\bd'accord\b",
            r"<lunwen>[^?？。]{0,20}(?:一致|矛盾|分歧)|(?:支持|赞成)(?:和|与|还是)反对",
        ),
    ),
    (
        "overview",
        (
            r"\b(?:overview|survey|literature review|review) (?:of|on|over)\b",
            r"^(?:survey|review) (?!paper|article)\w",
            r"\bstate of the art (?:in|of|on|for)\b",
            r"\bwhat is (?:currently )?known about\b",
            r"\bwhat (?:do|does|can) (?:the |these |those )?(?:<papers>|collection|literature"
            r"|research) (?:say|tell(?: us| me)?|report|find|know)\b",
            r"\bsumm?ari[sz]e (?:all |what )?(?:the |these )?(?:<papers>|literature|research|work"
            r"|field|collection)\b",
            r"\b(?:main|key|major) (?:themes|topics|lines of research|research directions)\b",
            r"\b(?:uberblick|ubersicht) uber\b|\bstand der forschung\b",
            r"\b(?:panorama|resumen general|vision general|estado del arte) (?:de|sobre)\b",
            r"\b(?:apercu|panorama|tour d'horizon|etat de l'art) (?:de|du|des|sur)\b",
            r"(?:综述|概述|概览|研究现状|總覽|总览)",
        ),
    ),
    (
        "list",
        (
            r"^(?:in |on |for |of )?(?:which|what)(?: (?:of|are|were|other|all))*"
            r"(?: (?:the|these|those|our|my|your))? "
            r"(?:(?!(?:do|does|did|in|of|by|the|is|are|have|has|to|on|for)\b)[\w-]+ ){0,3}?"
            r"<papers>\b"
            r"(?! (?:does|did|is it|was it|have in common)\b)",
            r"\b(?:list|name|show|find|give(?: me)?|show me|enumerate|get|i need|i want)(?: me)?"
            r"(?: (?:all|every|any|each|the|of|some|those))* (?:[\w-]+ )?<papers>\b"
            r"(?! (?:\w+ ){0,2}(?:name|title|address)\b)",
            r"^(?:do|does|did|are|is|have|has) (?:<some> )(?:of (?:the|these|those|your) )?"
            r"(?:other )?(?:<papers>|paper)\b",
            r"^(?:are|is) there (?:a |any |some |more )?(?:[\w-]+ )?(?:<papers>|paper)\b",
            r"^(?:do you|does (?:the|this) collection|have you|do we) (?:have|hold|contain|know"
            r"|got)(?: of)? (?:a |any |some |the )?(?:[\w-]+ )?(?:<papers>|paper|anything"
            r"|something)\b",
            r"^who (?:else )?(?:has |have )?(?:written|published|worked) (?:\w+ )?(?:about|on)\b",
            r"^(?:which|what|name|list|give)\b.{0,60}\b(?:their|the|these|whose) <papers>"
            r" (?:describe|call|mention|say|state|report|claim|propose|introduce)",
            r"^<papers> (?:about|on|that|which|using|by|from|since|published)\b",
            r"\bwelche(?:n|r)?(?: der)? <arbeiten>\b|\bgibt es <arbeiten>\b"
            r"|\b(?:liste|nenne|zeige?)(?: mir)? alle <arbeiten>\b",
            r"\b(?:que|cuales) (?:de (?:los|estos) |son los )?<articulos>\b"
            r"|\b(?:hay|existen) <articulos>\b|\b(?:lista|enumera|muestra)(?:me)? (?:todos )?"
            r"(?:los )?<articulos>\b",
            r"\bquel(?:le)?s <travaux>\b|\by a-t-il des <travaux>\b|\b(?:liste|cite|enumere)[rz]?"
            r" (?:tous |toutes )?(?:les )?<travaux>\b",
            r"(?:哪些|哪几篇|有没有|列出(?:所有|全部)?)(?:的)?[^?？。]{0,20}?<lunwen>"
            r"|<lunwen>有哪些",
        ),
    ),
    (
        "comparison",
        (
            r"\bcompar(?:e|es|ed|ing) (?:the )?.+\b(?:and|with|to|against|versus|vs)\b",
            r"\bcomparison (?:of|between)\b",
            r"\b(?:differences?|similarities|distinction|contrast) between\b",
            r"\bcontrast .+ (?:and|with)\b",
            r"\bhow (?:do|does|are|is)\b.+\b(?:differ|different from|compare)\b",
            r"\bwhat (?:distinguishes|sets)\b.+\b(?:from|apart)\b",
            r"\b(?:vs\.?|versus)\s",
            r"\bvergleiche?n?\b.+\b(?:und|mit)\b|\bunterschiede?n?\b.{0,20}\bzwischen\b"
            r"|\bunterscheide[nt] sich\b",
            r"\bcompar(?:a|ar|e)\b.+\b(?:y|con)\b|\bdiferencias? entre\b"
            r"|\ben que se diferencian?\b",
            r"\bcompare[rz]?\b.+\b(?:et|avec|a)\b|\bdifferences? entre\b|\bdifferent-ils\b",
            r"(?:比较|對比|对比|比較)|(?:区别|差异|不同|區別)(?:是什么|在哪|吗)?",
        ),
    ),
    (
        "summary",
        (
            r"\b(?:summari[sz]e|sum up|summary of|tldr|tl;dr|abstract of|gist of)\b",
            r"\bin (?:one|two|three|four|a few|1|2|3|4) sentences?\b",
            r"\bwhat (?:is|are) .{1,60} (?:paper |all )?about\b$",
            r"\bfass?e?\b.{1,80}\bzusammen\b|\bzusammenfassung (?:von|der|des)\b",
            r"\bresum(?:e|ir|en de)\b|\bde que trata\b",
            r"\bresume[rz]?\b|\bde quoi (?:parle|traite)\b",
            r"(?:总结|總結|摘要一下|概括)",
        ),
    ),
    (
        "definition",
        (
            r"^(?:and )?what (?:is|are|s) (?:an? )?(?!the\b|its?\b|their\b|this\b|that\b|there\b"
            r"|his\b|her\b|your\b)[\w$\\{}^.+-]+(?: (?!of\b|in\b|for\b|used\b|by\b|on\b|at\b|with\b"
            r"|to\b|from\b|about\b|like\b|name|called)[\w-]+){0,3}$",
            r"\b(?:stand|stands|standing) for\b",
            r"\b(?:abbreviate[sd]?|is short for|acronym|in full|full (?:name|form)"
            r"|spell(?:ed)? out)\b",
            r"\bwhat (?:does|do) .{1,40} mean\b$",
            r"^(?:define|definition of)\b|\b(?:is meant by|the definition of)\b",
            r"^was (?:ist|sind) (?:eine? )?(?!der\b|die\b|das\b)[\w-]+$|\bwofur steht\b"
            r"|\bwas bedeutet\b",
            r"^que (?:es|son) (?:una? )?(?!el\b|la\b)[\w-]+$|\bque significan?\b",
            r"^(?:qu'est-ce que?|c'est quoi)\b.{1,40}$|\bque (?:signifie|veut dire)\b",
            r"^(?:什么是|何为|何謂|什麼是)|(?:是什么|是什麼)意思|代表什么|(?:全称|全稱)",
        ),
    ),
    (
        "quantity",
        (
            r"\bhow (?:many|much|few|large|big|small|long|fast|accurate|often|high|low|far|old"
            r"|deep|frequently)\b",
            r"\bwhat (?:percentage|fraction|proportion|share|number|percent|amount)\b",
            r"\bwie ?(?:viele?|hoch|gross|lange?|oft|schnell|genau)\b",
            r"\bcuant[oa]s?\b|\bque (?:porcentaje|fraccion|numero)\b",
            r"\bcombien\b|\bquel (?:pourcentage|nombre)\b",
            r"(?:多少|几个|几种|几项|百分之几|多大|多高|多长)",
        ),
    ),
    (
        "yes_no",
        (
            r"^(?:and |so |but |then |or )?(?:is|are|was|were|do|does|did|can|could|has|have|had"
            r"|will|would|should|must|may|might|isn't|aren't|doesn't|don't)\b(?!.*\bor\b)",
            r"^(?:ist|sind|war|waren|hat|haben|kann|konnen|wird|werden|gibt es|soll|funktioniert"
            r"|verbessert|braucht|benotigt|ubertrifft)\b(?!.*\boder\b)",
            r"^(?:es|son|puede|pueden|tiene|tienen|hay|existe|supera|mejora|funciona|necesita"
            r"|utiliza|usa)\b(?!.*\bo\b)",
            r"^(?:est-ce qu|est-il|est-elle|peut-on|y a-t-il|sont-ils|sont-elles)(?!.*\bou\b)"
            r"|^[\w-]+(?: [\w-]+){0,3} (?:est|peut|a|fait|ameliore|depasse|utilise)"
            r"-t?-?(?:il|elle)\b",
            r"(?:吗|嗎)[?？]?$|是否|能否|是不是",
        ),
    ),
)

NOT_SURE: Mapping[Kind, tuple[str, ...]] = {
    "yes_no": (r"[?？]", r"^can you\b", r"还是"),
    "summary": (r"\bsum(?:s|med)? up to\b",),
    "definition": (r"\b(?:and|which|whose|how)\b",),
    "comparison": (r"^(?:does|do|did|is|are|was|were|by how)\b",),
}
"""What makes a question another kind after all."""

COURTESY = (
    r"^(?:(?:hi|hello|hey|ok|okay|so|well|please|now|then|also|and)\b[ ,!.]*)*"
    r"(?:(?:can|could|would|will) you (?:please |kindly )?(?:(?:tell|show|explain|describe)"
    r"(?: to)?(?: me| us)?[ ,:]+(?:if |whether )?"
    r"|(?=(?:list|name|find|show|give|summari|compare|enumerate|sum )))"
    r"|(?:please )?tell me[ ,:]+|i(?:'d| would) like to know[ ,:]+|do you know[ ,:]+"
    r"(?=wh|how)|(?:kannst du|konnen sie) (?:mir )?(?:bitte )?(?:sagen)[ ,:]+"
    r"|(?:puedes|puede) (?:decirme|decir)[ ,:]+|(?:peux-tu|pouvez-vous) me dire[ ,:]+|请问?)?"
)
