"""How people greet, thank and ask what can be done, and what is said then; data, no logic.

Phrases are regular expressions over a message in its normal form without punctuation. `greetings`
may stand before the others; `asks` and `thanks` must be all that is left.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chat:
    """General talk in one language: what is recognised, and what is said in turn."""

    code: str
    purpose: str
    welcome: str
    greetings: tuple[str, ...]
    asks: tuple[str, ...]
    thanks: tuple[str, ...]


ENGLISH = Chat(
    code="en",
    purpose="I answer questions from the paper abstracts of this collection, and every sentence "
    "cites the sentence that supports it. Ask for a fact, a comparison, a list or count of papers, "
    "whether papers agree, a summary of one paper or an overview of a topic.",
    welcome="You are welcome. Ask on about the papers of this collection.",
    greetings=(
        r"(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day))(?: there| all)?",
    ),
    asks=(
        r"(?:so )?what (?:can|do) you (?:actually )?(?:do|offer)(?: for me| here)?",
        r"(?:so )?what (?:can|should|may|could) i (?:ask|do)(?: you| here)?",
        r"how (?:can|do) (?:i use (?:you|this)|you help(?: me)?|you work|this work)",
        r"(?:can|could) you (?:please )?help(?: me)?|help(?: me)?(?: please)?",
        r"what (?:are you|is this)(?: assistant)? (?:for|good for)",
        r"how are you(?: doing)?(?: today)?|what's up|nice to meet you",
        r"(?:please )?introduce yourself",
    ),
    thanks=(
        r"(?:(?:ok|okay|great|perfect|good|nice|cool|many|no) )*(?:thanks|thank you|thx|cheers)"
        r"(?: (?:a lot|so much|very much|for (?:your|the) help|you|again))?",
        r"(?:good ?bye|bye(?: bye)?|see you(?: later)?)",
        r"(?:great|perfect|cool|awesome|well done|good (?:job|work|answer))",
    ),
)

GERMAN = Chat(
    code="de",
    purpose="Ich beantworte Fragen aus den Zusammenfassungen dieser Sammlung, und jeder Satz nennt "
    "den Satz, der ihn belegt. Fragen Sie nach einer Tatsache, einem Vergleich, einer Liste oder "
    "Anzahl von Arbeiten, ob Arbeiten sich einig sind, oder nach einem Überblick.",
    welcome="Gern geschehen. Fragen Sie weiter nach den Arbeiten dieser Sammlung.",
    greetings=(r"(?:hallo|guten (?:tag|morgen|abend)|servus|moin|gruss gott|grussi|tag)",),
    asks=(
        r"was (?:kannst du|konnen sie)(?: alles)?(?: (?:tun|machen))?",
        r"(?:was|wonach) kann ich (?:dich |sie )?(?:hier )?fragen",
        r"(?:kannst du|konnen sie) mir helfen|hilfe|wie funktioniert (?:das|es)",
        r"wie geht(?:'s| es)(?: dir| ihnen)?",
    ),
    thanks=(
        r"(?:vielen dank|danke(?: (?:schon|sehr|dir|ihnen))?|dankeschon|besten dank)",
        r"(?:auf wiedersehen|tschuss|tschus)",
    ),
)

SPANISH = Chat(
    code="es",
    purpose="Respondo preguntas a partir de los resúmenes de esta colección, y cada frase cita la "
    "frase que la respalda. Pida un dato, una comparación, una lista o un recuento de artículos, "
    "si los artículos coinciden, o un panorama de un tema.",
    welcome="De nada. Siga preguntando por los artículos de esta colección.",
    greetings=(r"(?:hola|buen(?:os|as) (?:dias|tardes|noches)|buenas)",),
    asks=(
        r"que (?:puedes|puede|sabes) hacer(?: por mi)?",
        r"que (?:te )?puedo preguntar(?:te|le)?|(?:puedes|puede) ayudarme|me puedes ayudar|ayuda",
        r"como (?:funciona(?:s)?|estas|esta usted)|para que sirves",
    ),
    thanks=(r"(?:muchas |mil )?gracias|adios|hasta luego",),
)

FRENCH = Chat(
    code="fr",
    purpose="Je réponds aux questions à partir des résumés de cette collection, et chaque phrase "
    "cite celle qui l'appuie. Demandez un fait, une comparaison, une liste ou un nombre "
    "d'articles, si les articles sont d'accord, ou un aperçu d'un sujet.",
    welcome="Je vous en prie. Continuez à interroger les articles de cette collection.",
    greetings=(r"(?:bonjour|bonsoir|salut|coucou)",),
    asks=(
        r"(?:que|qu'est ce que) (?:peux tu|pouvez vous|tu peux|vous pouvez|sais tu|savez vous)"
        r" faire",
        r"que puis je (?:te |vous )?demander|(?:peux tu|pouvez vous) m'aider|aide(?: moi)?",
        r"comment (?:ca marche|ca va|allez vous|vas tu)|a quoi (?:sers tu|servez vous)",
    ),
    thanks=(r"merci(?: (?:beaucoup|bien|a vous|a toi))?|au revoir",),
)

PORTUGUESE = Chat(
    code="pt",
    purpose="Respondo a perguntas a partir dos resumos desta coleção, e cada frase cita a frase "
    "que a sustenta. Peça um facto, uma comparação, uma lista ou contagem de artigos, se os "
    "artigos concordam, ou um panorama de um tema.",
    welcome="De nada. Continue a perguntar sobre os artigos desta coleção.",
    greetings=(r"(?:ola|oi|bom dia|boa (?:tarde|noite))",),
    asks=(
        r"o que (?:voce )?(?:pode|podes|sabe|sabes) fazer",
        r"o que (?:eu )?posso perguntar|(?:pode|podes) (?:me )?ajudar(?: me)?|ajuda",
        r"como (?:funciona|esta|estas)|para que serves?",
    ),
    thanks=(r"(?:muito )?obrigad[oa]|adeus|tchau",),
)

CHINESE = Chat(
    code="zh",
    purpose="我根据本文献库的论文摘要回答问题，每句话都注明支持它的原句。"
    "您可以问事实、比较、论文列表或数量、各论文是否一致，或某个主题的概览。",
    welcome="不客气。请继续就本文献库的论文提问。",
    greetings=("(?:你好|您好|嗨|早上好|下午好|晚上好)(?:啊|呀)?",),
    asks=(
        "(?:你|您)(?:能|可以|会)(?:做|帮我做)?(?:些)?(?:什么|哪些事)(?:呢)?",
        "我(?:能|可以)问(?:你|您)?(?:些)?什么(?:呢)?|(?:你|您)能帮我(?:吗)?|帮助|(?:你|您)怎么用",
    ),
    thanks=("(?:非常|十分|多)?(?:谢谢|感谢|謝謝|多谢)(?:你|您|了)?|再见",),
)

JAPANESE = Chat(
    code="ja",
    purpose="このコレクションの論文要旨から質問に答え、どの文にも根拠となる文を示します。"
    "事実、比較、論文の一覧や数、論文の一致、主題の概観などをお尋ねください。",
    welcome="どういたしまして。論文について引き続きお尋ねください。",
    greetings=("(?:こんにちは|こんばんは|おはよう(?:ございます)?|はじめまして)",),
    asks=("何ができますか|何が出来ますか|何を聞けますか|助けて(?:ください)?|使い方は",),
    thanks=("(?:どうも)?ありがとう(?:ございます|ございました)?|さようなら",),
)

CHATS: tuple[Chat, ...] = (
    *(ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE),
    *(CHINESE, JAPANESE),
)
"""Tried in this order."""
