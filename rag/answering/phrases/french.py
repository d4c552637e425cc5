"""How it is asked in French; the form is that of `rag.answering.phrases.language`."""

from __future__ import annotations

from rag.answering.phrases.language import Language

FRENCH = Language(
    code="fr",
    says="Je suis un système d'IA : un programme qui répond à partir des résumés de cette "
    "collection. Aucune personne n'écrit ces réponses.",
    words={
        "adv": r"(?: (?:vraiment|reellement|en fait|bien|donc|seulement|juste|simplement|peut-etre"
        r"|aussi|la|actuellement|en ce moment|maintenant|par hasard|pas|toi|vous|au juste"
        r"|exactement"
        r"|encore|plutot|surement|certainement|qu'))*",
        "a": r"(?: (?:un|une|le|la|de|des|d'|l'|quelque))? ?(?:(?:vrai(?:e|s)?|veritable|simple"
        r"|autre"
        r"|pauvre) ?)*",
        "human": r"(?:etres? humains?|humaine?s?|personnes?|homme|femme|quelqu'un|gens"
        r"|documentaliste"
        r"|bibliothecaire|chercheu(?:r|se)|conseiller|operateur)(?: (?:reel(?:le)?s?|humaine?"
        r"|en chair et en os|vivante?|physique))*",
        "machine": r"(?:ia|i\.a\.|ai|intelligence artificielle|(?:chat)?bots?|robots?|machine"
        r"|programme(?: informatique)?|ordinateur|logiciel|modele de langage|algorithme|automate"
        r"|assistant virtuel|chatgpt|agent conversationnel)",
        "areyou": r"(?:etes[- ]vous|es[- ]tu|seriez[- ]vous|serais[- ]tu"
        r"|(?:est[- ]ce que|si|que) (?:tu es|t'es|vous etes)|qu'(?:tu es|vous etes))",
        "talk": r"(?:parle|discute|communique|echange|m'adresse|cause|ecris|dialogue|chatte)",
        "life": r"(?:sentiments?|emotions?|corps|famille|enfants|ame|coeur|cerveau|amis|conscience"
        r"|parents|prenom|nom|anniversaire|loisirs|animaux)",
        "bot": r"(?:ia|intelligence artificielle|(?:chat)?bots?|robots?|machine|ordinateur"
        r"|automate)",
    },
    asks=(
        r"\b<areyou><adv><a> ?(?:<human>|<machine>|reel(?:le)?|humain|vrai|vivante?|conscient"
        r"|artificiel(?:le)?)<end>",
        r"\b(?:vous|tu) (?:habitez|habites|vivez|vis|travaillez|travailles|venez"
        r"|viens)<adv>(?: d')? ?ou\b",
        r"\b(?:est[- ]ce que )?(?:tu|vous) (?:dors|dormez|manges|mangez|reves|revez|respires"
        r"|respirez"
        r"|pleures|pleurez|vis|vivez)\b|\bressen(?:s|tez)[- ](?:tu|vous)\b"
        r"|\b(?:tu|vous) (?:ressens|ressentez|eprouves|eprouvez|souffres|souffrez)\b",
        r"^<a> ?<human> ou<adv><a> ?<machine> ?\?$|^<a> ?<machine> ou<adv><a> ?<human> ?\?$",
        r"\b(?:etes[- ]vous|es[- ]tu|tu es|vous etes)<adv> (?:fatiguee?|mariee?|heureu(?:x|se)"
        r"|triste|seule?"
        r"|amoureu(?:x|se)|payee?|celibataire|vivante?|la)<end>",
        r"\b(?:as[- ]tu|avez[- ]vous|tu as|vous avez)<adv>(?: deja)? (?:ete (?:amoureu|malade)"
        r"|pleure|dormi"
        r"|mange|reve|voyage)",
        r"\bqu'?(?:as[- ]tu|avez[- ]vous|est[- ]ce que tu as|est[- ]ce que vous avez) (?:fait"
        r"|mange)\b",
        r"\bque (?:fais[- ]tu|faites[- ]vous)(?: \w+)? ?(?:hier|ce soir|le week-end|demain|apres"
        r"|dans la vie"
        r"|de ton temps|pendant)",
        r"\b(?:ta|ton|tes|votre|vos) (?:mere|pere|famille|enfants|voix|visage|patron|collegues"
        r"|enfance"
        r"|loisirs|salaire|anniversaire)\b|\bparle[- ]moi de toi\b|\bparlez[- ]moi de vous\b",
        r"\bje<adv> <talk><adv>(?: \w+)? (?:a|avec)<a> ?(?:<human>|<machine>|qui)\b",
        r"\b(?:suis[- ]je|je suis)<adv> en train (?:de |d')(?:parler|discuter|echanger|ecrire"
        r"|dialoguer"
        r"|chatter|communiquer)\b",
        r"\b(?:parle|discute|ecris|echange|dialogue)[- ]je<adv> (?:a|avec)\b",
        r"\bai[- ]je affaire (?:a|avec)\b",
        r"\b(?:a|avec) qui<adv> (?:ai[- ]je|je <talk>|<talk>[- ]je|est[- ]ce que je|suis[- ]je"
        r"|j'ai|m'adresse)",
        r"\b(?:qui|que|qu') ?(?:etes[- ]vous|es[- ]tu|est[- ]ce que (?:tu es|vous etes)"
        r"|t'es)<adv><end>",
        r"\b(?:tu es|t'es|vous etes) (?:qui|quoi)<adv><end>",
        r"\b(?:as[- ]tu|avez[- ]vous|tu as|vous avez|t'as)<adv> (?:des|une?|un|de l'"
        r"|d')? ?<life><end>",
        r"\b(?:dors[- ]tu|manges[- ]tu|reves[- ]tu|respires[- ]tu|dormez[- ]vous|mangez[- ]vous"
        r"|tu dors|tu manges|tu reves|es[- ]tu fatigue)\b",
        r"\bquel age (?:as[- ]tu|avez[- ]vous|tu as|vous avez)|\btu as quel age\b",
        r"\b(?:ou (?:habites[- ]tu|habitez[- ]vous|tu habites|es[- ]tu ne|etes[- ]vous ne)|comment "
        r"(?:t'appelles[- ]tu|tu t'appelles|vous appelez[- ]vous)|quel est (?:ton"
        r"|votre) (?:pre)?nom"
        r"|d'ou viens[- ]tu)<adv>",
        r"\b(?:puis[- ]je|je peux|pourrais[- ]je|je veux|je voudrais|j'aimerais|peut[- ]on"
        r"|je souhaite"
        r"|je prefere)<adv> (?:parler|discuter|echanger|m'adresser) (?:a|avec)<a> ?<human>\b",
        r"\b(?:passez|passe|mettez|mets)[- ]moi<adv>(?: en contact)? (?:a|avec)?<a> ?<human>\b",
        r"\bqui (?:t'a|vous a) (?:cree|programme|concu|entraine|developpe|fait)\b",
        r"\b(?:as[- ]tu|avez[- ]vous) ete (?:programme|cree|entraine|concu)",
        r"\bqui<adv> (?:me |m'|est derriere|se cache|repond|ecrit|redige)(?: ?(?:repond|ecrit"
        r"|parle|lit"
        r"|derriere|ici|la|ces|mes|a mes|cet|ce))*<adv>",
    ),
    supposes=(
        r"\b(?:vous n'etes|tu n'es|t'es) (?:pas|donc pas|quand meme pas)<adv><a> ?(?:<human>"
        r"|<machine>)<end>",
        r"\b(?:tu es|t'es|vous etes|tu parles comme|on dirait)<adv><a> ?(?:<human>|<machine>"
        r"|reel(?:le)?"
        r"|humain)<end>",
    ),
    hints=(
        r"\b(?:y a[- ]t[- ]il|il y a|est[- ]ce qu'il y a)<adv><a> ?<human><adv> (?:derriere"
        r"|au bout|la"
        r"|qui (?:lit|ecrit|repond)|ici|de l'autre cote|en face)\b",
        r"\b(?:est[- ]ce|c'est|est[- ]ce que c'est|serait[- ]ce)<adv><a> ?(?:<human>"
        r"|<bot>)(?:<end>"
        r"| (?:ou|qui (?:repond|ecrit|parle|lit|me)))",
        r"\b(?:<human>|<bot>) qui (?:me|m'|repond|ecrit|lit)\b",
        r"\b(?:ces|tes|vos|les) reponses (?:sont|ont ete)[- ]?(?:elles )?(?:ecrites|generees"
        r"|redigees"
        r"|automatiques)\b",
    ),
    papers=r"\b(?:articles?|etudes?|papiers?|resumes?|travaux|auteurs?|collection|donnees"
    r"|benchmarks?"
    r"|experiences?|participants?|utilisateurs?|publications?|litterature|recherches?)\b",
    introduces=r"^(?:(?:avant|d'abord|une question|bonjour|salut|pardon|merci|bon|ok|et|mais"
    r"|excusez-moi"
    r"|dis-moi|dites-moi)\b[^,:]*[,:] ?)+",
    name="French",
    common=frozenset(
        "le la les un une des du de et ou est sont était être quel quelle quels quelles que qui "
        "quoi "
        "comment combien où quand pourquoi pour avec sans sur dans par au aux ce cette ces il elle "
        "ils elles son sa ses leur leurs ne pas plus se en y a ont peut selon entre "
        "qu'est-ce d'un d'une".split()
    ),
    denials=frozenset("pas jamais sans aucun aucune ni rien".split()),
    refusal="La collection ne le dit pas.",
    checked="{checked} résumés vérifiés sur {total}",
    quoted="Les phrases sont citées dans leur langue d'origine.",
    yes=r"(?:oui|d'accord|ok|volontiers|bien sûr|continue[sz]?|plus)(?: (?:s'il (?:te|vous) plaît"
    r"|merci))*",
    refers=r"\b(?:il|elle|ils|elles|son|sa|ses|leur|leurs|cela|ça|celui-ci|celle-ci|cet?|cette|ces"
    r"|les auteurs|l'article|la méthode|le modèle)\b",
    and_about=r"et (?:pour |avec |sur |dans |qu'en est-il (?:de |d'))?"
    r"(?P<thing>\S+(?: \S+){0,3}?)\s*\?",
)
