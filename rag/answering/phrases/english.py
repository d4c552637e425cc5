"""How it is asked in English; the form is that of `rag.answering.phrases.language`."""

from __future__ import annotations

from rag.answering.phrases.language import Language

ENGLISH = Language(
    code="en",
    says="I am an AI system: a program that answers from the abstracts of this collection. "
    "No person writes these answers.",
    words={
        "adv": r"(?: (?:really|actually|truly|even|just|only|maybe|perhaps|possibly|secretly"
        r"|in fact"
        r"|honestly|also|still|not|by any chance|now|right now|currently|sure|all|some kind of"
        r"|some sort of|kind of|sort of|like|definitely|certainly|literally))*",
        "a": r"(?: (?:a|an|the|some|any|no|another|one of those))?"
        r"(?: (?:real|actual|live|living|genuine|true|fellow|normal|flesh[- ]and[- ]blood"
        r"|breathing|human"
        r"|mere|big|stupid|fancy|simple|clever))*",
        "human": r"(?:humans?(?: being)?|persons?|people|man|woman|guy|girl|boy|lady|somebody"
        r"|someone"
        r"|anybody|anyone|individual|real one|librarian|researcher|agent|operator|one of us"
        r"|(?:living )?(?:being|creature|thing|soul))",
        "machine": r"(?:ai|a\.i\.?|artificial intelligence|(?:chat ?|ro)?bots?|machine|computer"
        r"(?: program)?|program|software|algorithm|(?:large )?language model|llm|gpt|chatgpt|claude"
        r"|automaton|automated(?: \w+)?|virtual assistant|ai assistant|android)",
        "answer": r"(?:answers?|repl(?:y|ies)|responses?|messages?|chat|conversation|sentences?)",
        "talking": r"(?:talking|speaking|chatting|texting|writing|typing|communicating|interacting"
        r"|conversing|dealing|in touch|connected)",
        "writes": r"(?:writ(?:e|es|ing|ten|e back)|wrote|typ(?:e|es|ed|ing)|answer(?:s|ed|ing)?"
        r"|repl(?:y|ies|ied|ying)|respond(?:s|ed|ing)?|read(?:s|ing)?|generat(?:e|es|ed|ing)"
        r"|produc(?:e|es|ed|ing)|creat(?:e|es|ed|ing))",
        "are": r"(?:are|r|aren't|were|be)",
        "you": r"(?:you|u|ya|y'all)",
        "behind": r"(?:here|there|behind|on the other|at the other|involved in (?:answering|this"
        r"|writing)|in"
        r" the loop here|(?:writing|typing|answering|replying|responding|speaking|talking|reading)"
        r"(?:<end>| (?:to )?(?:me|this|here|my|back|these|what i)))",
        "life": r"(?:feelings?|emotions?|a body|a heart|a soul|a brain|a pulse|a face|a mind|a name"
        r"|a family|a home|a birthday|a childhood|a job|a boss|a gender|an age|consciousness"
        r"|friends"
        r"|kids|children|parents|siblings|hobbies|a wife|a husband|a partner|a girlfriend"
        r"|a boyfriend|pets?|a pet|a dog|a cat|blood|skin|hands|eyes|self-awareness)",
        "bot": r"(?:ai|(?:chat ?|ro)?bots?|machine|computer|automated (?:system|response|reply"
        r"|answer|service)|android)",
    },
    asks=(
        r"\b<are> <you><adv><a> (?:<human>|<machine>|human|real|alive|sentient|conscious|artificial"
        r"|automated|made of flesh|self-aware|biological)(?:<end>| (?:who|that|which)\b)",
        r"\b(?:am i|are we|i'm i)<adv> <talking>(?: (?:to|with)| for real)?\b",
        r"\b(?:who|whom|what)(?: exactly)? (?:am i|are we|i am|i'm)<adv> <talking>\b",
        r"\b(?:i am|i'm|i was|if i am|if i'm)<adv> <talking> (?:to|with)<adv><a> "
        r"(?:<human>|<machine>)<end>",
        r"\b(?:who|what)(?: exactly| really| the hell)? (?:are|r) <you>(?: really| exactly| then"
        r"| anyway)?<end>",
        r"\b(?:prove|admit|confess|swear|promise|tell me|say|show me|believe|think|know|sure|bet"
        r"|guess|suspect|suppose|convinced|wonder(?:ing)?|feeling|whether|if)(?: to me| that| if"
        r"| whether|,)* (?:<you> are|you're|u r|ur)<adv><a> (?:<human>|<machine>|human|real|alive"
        r"|sentient|conscious)<end>",
        r"\b(?:do|don't|can|could|can't|will|would|did)<adv> <you><adv>(?: ever)? (?:sleep|dream"
        r"|breathe|eat|drink|die|cry|laugh|get (?:tired|bored|hungry|lonely|paid|sick|old|angry)"
        r"|feel (?:pain|tired|lonely|happy|sad|love|anything|things|emotions?)|fall in love|bleed"
        r"|take breaks?|go (?:home|outside|to bed|on holiday)|pass (?:a|the) turing test"
        r"|solve (?:a )?captchas?|exist in real life|see me|hear me)\b",
        r"\b(?:do|don't) <you><adv>(?: ever)? have<adv>(?: any| your own| real| human| a| an"
        r"| physical"
        r"| proper)* (?:<life>|body|heart|brain|family|soul|mind|face)<end>",
        r"\bare <you> one<end>",
        r"\b(?:whose|who's) (?:voice|face) is (?:this|that)\b|\b(?:your|ur) shift\b",
        r"\bi'm<adv> <talking>(?: to| with)<adv><a> (?:live |human )?(?:<human>|<machine>)<end>",
        r"\bhow old (?:are|r) <you><end>",
        r"\b(?:where|when) (?:were|was) <you> born\b",
        r"\bwhere (?:do <you> live|are <you> (?:from|based|located|sitting|right now))<end>",
        r"\bwhat(?:'s| is|s) your (?:(?:real|actual|full|first) )?(?:name|age|gender|birthday|job"
        r"|favou?rite \w+|sign)<end>",
        r"\bwhat (?:did <you> (?:have|eat|do)|are <you> having) (?:for (?:breakfast|lunch|dinner)"
        r"|today|yesterday|last night|this morning|(?:at|over|on|this|last) (?:the )?weekend)\b",
        r"\bhow (?:was|is|'s) your (?:day|morning|evening|night|weekend|family|holiday)\b",
        r"\b(?:can|could|may|might) i(?: please)? (?:speak|talk|chat|be connected|get connected)"
        r"(?: to| with)<a> (?:<human>|agent|operator|member of staff)\b",
        r"\b(?:i (?:want|need|wish)|i'd (?:like|prefer|rather)|i would (?:like|prefer|rather)"
        r"|let me"
        r"|please let me)(?: to)? (?:speak|talk|chat)(?: to| with)<a> (?:<human>|agent"
        r"|operator)<end>",
        r"\b(?:connect|transfer|put|pass) me (?:through )?(?:to|with|over to)<a> (?:<human>|agent"
        r"|operator)<end>",
        r"\b(?:who|which company|what company) (?:made|built|programmed|trained|created|developed"
        r"|designed|coded|owns|controls|runs|operates|invented) <you><end>",
        r"\b(?:were|are|was) <you> (?:programmed|trained|built|coded|created|made|designed"
        r"|pre-?programmed|born)\b",
        r"\b(?:what|which) (?:\w+ )?model (?:are <you>|is behind <you>|powers <you>|runs <you>)",
        r"\bare (?:your|these|the|those) <answer> (?:being )?(?:automated|automatic|generated"
        r"|written"
        r"|typed|produced|computer-generated|ai-generated|scripted|canned|real)\b",
        r"\b(?:is|was) (?:your|this|that|the) <answer> (?:being )?(?:automated|automatic|generated"
        r"|written|typed|produced|computer-generated|ai-generated|scripted|canned)\b",
        r"\b(?:did|does|is|was|has)<adv><a> (?:<human>|<machine>)<adv> <writes>(?: out)?"
        r"(?: (?:to me|me|back|this|that|these|those|it|here|your|for you|my (?:question"
        r"|message)s?))"
        r"(?: <answer>)?<end>",
        r"\b(?:who|what)(?:'s| is| are)?<adv> (?:writes?|wrote|writing|typing|types|answers?"
        r"|answering"
        r"|replying|responding|behind)(?: to me| to)? (?:me|this|that|these|those|here|your"
        r"|all this"
        r"|my questions?|the screen|the keyboard)(?: <answer>)?<end>",
        r"\bis (?:anyone|anybody|someone|somebody)<adv>(?: \w+)? (?:there|reading|listening|behind"
        r"|typing|home)\b",
        r"\bwhat(?:'s| is) it like (?:being|to be) <you>\b",
        r"\b(?:which|what) (?:city|country|town|time ?zone|office|building|room) are <you>\b",
        r"\b(?:are|r) <you><adv> (?:paid|employed|married|single|dating|male|female|a boy|a girl"
        r"|tired"
        r"|hungry|happy|sad|lonely|bored|drunk|asleep|awake|religious|mortal|at (?:home|work)"
        r"|in love"
        r"|on (?:holiday|break)|being paid)\b",
        r"\b(?:tell me about|describe|introduce) yourself\b|\bwhat do <you> look like\b",
        r"\b(?:your|ur) (?:mother|mom|mum|father|dad|wife|husband|kids|children|family|colleagues"
        r"|salary|hometown|childhood|hobb(?:y|ies)|birthday|voice|heartbeat|holiday|lunch"
        r"|weekend)\b",
        r"\b<you> (?:reply|respond|answer|type|write)(?: back)?(?: \w+)? (?:fast|quick|quickly"
        r"|instantly)\b",
        r"\bonly (?:a |real )?(?:humans?|persons?|people) (?:would|can|could)\b",
        r"\b(?:someone|somebody|anyone|anybody|<human>) is<adv> (?:reading|typing|answering|writing"
        r"|listening|sitting)(?: to)? (?:me|this|these|here|there|what i|my|back)\b",
    ),
    supposes=(
        r"(?:^|, )<you><adv><a> (?:<human>|<machine>|human|real|alive)<end>",
        r"\b(?:this is|that is|this's|that's|there is|there's|there isn't)<adv><a> "
        r"(?:<human>|<bot>)(?:<end>| <behind>)",
        r"\b(?:<you> are|you're|u r|ur|<you>(?: \w+)? (?:sound|seem|look|feel|act|talk"
        r"|write)(?: to be"
        r"| like| as if)?)<adv><a> (?:<human>|<machine>|human|real|alive|sentient|conscious)<end>",
    ),
    hints=(
        r"\b(?:is|was|isn't) (?:this|that)<adv><a> (?:<human>|<bot>)<end>",
        r"\b(?:is|was|isn't) (?:this|that|it|there)<adv><a> (?:<human>|<bot>) (?:<behind>|who"
        r"|that "
        r"(?:writes|types|answers|reads|i can)|i can (?:speak|talk|write))",
        r"\bhave <you><adv>(?: ever)? (?:been (?:in love|married|human|to|sick)|fallen|felt|loved"
        r"|cried"
        r"|eaten|slept|lived|visited|travell?ed|dreamed|dreamt|died|met)\b",
        r"\b(?:do|did) <you><adv>(?: ever)? (?:work (?:here|from|for|shifts|nights|alone)|live"
        r"|enjoy"
        r"|believe in|play|watch|drive|smoke|exist|remember (?:me|being|your)|like (?:it|being"
        r"|working"
        r"|your)|love|hate|miss|go to (?:school|university|church|work)|grow up)\b",
        r"\bwhat (?:do|did|are|will) <you> (?:do|doing|wear|wearing|eat"
        r"|eating)(?: \w+)? ?(?:for fun"
        r"|for a living|tonight|now|today|tomorrow|yesterday|(?:this|last|at the|on the|on) \w+"
        r"|after work|when <you>)",
        r"\b(?:nobody|no one|no human|no person)<adv> (?:can|could|would|types?|writes?|answers?"
        r"|replies)"
        r"\b.{0,20}\b(?:fast|quickly|quick|perfectly|all (?:day|night)|at this hour)\b",
        r"\b(?:can't|cannot|unable to|hard to) tell (?:if|whether) (?:<you>|this|it|there)\b",
        r"^(?:\w+ ){0,3}?(?:.{0,20}: ?)?<a> ?(?:<human>|human) or<adv><a> (?:<bot>)\??$",
        r"^(?:\w+ ){0,3}?(?:.{0,20}: ?)?<a> ?<bot> or<adv><a> (?:<human>|human)\??$",
        r"\b(?:is|was) it<adv><a> (?:<human>|<bot>) (?:that|who|which) (?:\w+ ){1,4}(?:this"
        r"|these|me"
        r"|my|here)\b",
        r"\b(?:are|were|is|was)(?: all(?: of)?)? (?:these|your|this) <answer><adv> (?:produced"
        r"|written"
        r"|made|created|generated|typed|given) by\b",
        r"\bis (?:this|that) (?:automated|computer-generated|ai-generated|generated by|written by"
        r"<a> (?:<human>|<bot>))\b",
        r"\bwho(?:'s| is) (?:this|there|that)<end>",
    ),
    papers=r"\b(?:papers?|abstracts?|stud(?:y|ies)|benchmarks?|data ?sets?|authors?|articles?"
    r"|publications?|literature|corpus|collection|experiments?|participants?|respondents?"
    r"|annotators?"
    r"|researchers (?:ask|test|study)|evaluat\w+|surveys?|users?|findings|(?:people|systems|models"
    r"|humans|they|it) (?:\w+ )?(?:asks?|asked|say|said|answer|wonder)|(?:asks?|asked|asking)"
    r"(?!.{0,6}\byou\b)(?= \w+ )(?: people| users| systems| models| them))\b",
    introduces=r"^(?:(?:before|first|sorry|(?:a |one )?quick|one (?:thing|question)|just|hi|hello"
    r"|hey"
    r"|wait|thanks|thank you|ok|okay|well|so|and|but|out of curiosity)\b[^,:]*[,:] ?)+",
    refusal="The collection does not say.",
    checked="checked {checked} of {total} abstracts",
    quoted="The sentences are quoted.",
)
