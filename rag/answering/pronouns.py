"""Follow-ups that point back: it, they, that paper, the second one, another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.answering.conversation import Conversation
from rag.answering.followed import Followed, Names
from rag.answering.phrases.english import ENGLISH
from rag.answering.referring import (
    called,
    formed_names,
    own_names,
    pointed,
    stands_in,
    topical,
    unnamed,
)
from rag.answering.speech import language_of
from rag.schema import Paper
from rag.text import legible

_GOES_ON = re.compile(r"[¿¡ ]*(?:(?:and|but|so|y|pero|und|aber|et|mais|e|mas)\b|那|还有)", re.I)
_HELD = "\ue00a"  # the place of a name that is already known
_FEW = 3  # words that say what a question is about
_AUX = (
    r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might|doesn't"
    r"|isn't|aren't|don't|didn't)"
)
_EXPLETIVE = re.compile(
    r"\bit(?:'s| is| was| be)? (?:possible|known|true|clear|necessary|better|worth|common|important"
    r"|useful|likely|easy|hard|difficult|the case)\b|\b(?:is|was) it (?:possible|known|true|clear"
    r"|necessary|better|worth|common|important|useful|likely|easy|hard|difficult|the case)\b"
    r"|\bit (?:mean|take)s? (?:to|that)\b",
    re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(
    r"\b(?:th(?:is|at|e same)|such an?) (?:one|paper|study|work|article|method|approach|model"
    r"|framework|system|algorithm|technique|abstract|publication|result|idea|finding)\b"
    r"|\b(?:of|on|for|with|to|about|from|by|in|at|than|against|does|is|was|do|did|are|why|how) "
    r"(?:this|that|these|those)(?=\s*(?:$|[?.,;!])| (?:work|matter|compare|help|mean|happen|so)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|itself|they|them|their|theirs|he|she|his|her)\b", re.IGNORECASE)
_DEFINITE = re.compile(
    r"\bthe (?:authors?|paper|study|method|approach|framework|abstract|article|researchers"
    r"|proposed \w+|(?:same|above) \w+)\b(?! (?:of|in|on|by|about|that|which|called|from"
    r"|proposed by)\b)",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\b(?:an|any|some|which|what|are there|there)? ?(?:another|other|others)"
    r"(?: (?:papers?|stud(?:y|ies)|works?|articles?|abstracts?|ones?|sources?)\b|(?=\W*$))"
    r"|\b(?:anything|anyone) else\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\bcompar\w* (?:it|them|that) (?:with|to|against)\b"
    r"|\b(?:it|they|them) (?:and|versus|vs\.?|or)\b"
    r"|\bdiffer\w*\b.{0,20}\bfrom\b",
    re.IGNORECASE,
)
_ALIKE = re.compile(r"\b(?:same|similar|related|alike|like (?:it|this|that)|this|that)\b", re.I)


def pointing(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """The second one, the last of those, both, [2]."""
    meant = pointed(question, conversation)
    if not meant:
        return None
    before, after = question[: meant.start], question[meant.end :]
    if not meant.papers:
        held = f"{before}{_HELD}{after}"
        rest = pronoun(held, conversation, names) or Followed(held, papers=conversation.subject)
        return replace(rest, text=rest.text.replace(_HELD, meant.name), rule="ordinal", search="")
    name = called(meant.papers)
    text = f"{before}{name}{after}" if name else question
    return Followed(text, "ordinal", meant.papers, search="" if name else question)


def another(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """Another paper about the same: what was spoken of is left out."""
    if (
        not conversation.subject
        or not _ANOTHER.search(question)
        or _names_others(question, conversation)
    ):
        return None
    without = frozenset(paper.id for paper in conversation.subject)
    if topical(question) and not _ALIKE.search(question):
        return Followed(question, "another", without=without)
    first = conversation.subject[0]
    topic = legible(first.title if not first.title_derived else first.sentences[0].text)
    search = f"{' '.join(topical(question))} {topic}"
    return Followed(question, "another", without=without, search=search)


def pronoun(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """It, they, that paper: the papers that are spoken of now."""
    bare = _EXPLETIVE.sub(lambda m: " " * len(m.group()), question)
    match = _DEMONSTRATIVE.search(bare) or _PRONOUN.search(bare) or _DEFINITE.search(bare)
    if not match or not conversation.subject:
        return None
    strong = bool(_DEMONSTRATIVE.search(bare))
    before = question[: match.start()]
    if own_names(before) and not strong:
        return None  # it refers to what the question itself names
    inside = topical(before)
    if len(inside) > _FEW and not strong and not _is_inverted(before):
        return None
    if _is_coordinate(before) and len(inside) > 1:
        return None
    text = _named(question, conversation.subject)
    papers = conversation.subject
    others = [paper for one in _names_others(question, conversation) if (paper := names(one))]
    if others and not strong and not _is_inverted(before) and not _BESIDE.search(question):
        return None
    papers = (*papers, *(paper for paper in others if paper not in papers))
    sure = strong or not inside or _is_inverted(before)
    return Followed(text, "reference", papers, search=unnamed(text, papers), sure=sure)


def _is_inverted(before: str) -> bool:
    """Whether "does" or the like stands right before: then the subject is not in the question."""
    return bool(re.search(rf"\b{_AUX}\s*$", before, re.IGNORECASE))


def _is_coordinate(before: str) -> bool:
    return bool(re.search(r"\w (?:and|but|or|because|if|when|while)\b|[,;:] ", before))


def topicless(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """What datasets were used? Of which paper, only the conversation says."""
    about = _refers_in_other_languages(question)
    named = own_names(question) if language_of(question) is ENGLISH else formed_names(question)
    if not conversation.subject or named:
        return None
    if re.search(
        r"\b(?:papers|studies|works|collection|articles|abstracts|anyone)\b", question, re.I
    ):
        return None
    common = language_of(question).common
    left = [word for word in topical(question) if word not in common]
    if not about and len(left) >= _FEW:
        return None
    name = called(conversation.subject)
    text = f"{question.rstrip(' ?？.!')} ({name})?" if name else question
    sure = not left or bool(_GOES_ON.match(question))
    return Followed(text, "topic", conversation.subject, search=question, sure=sure)


def _named(question: str, subject: Sequence[Paper]) -> str:
    """The question with the name of what is spoken of in place of the first word for it."""
    name = called(subject)
    if not name:
        return question
    forms = (
        (_DEMONSTRATIVE, name),
        (re.compile(r"\bthe authors?\b(?! of)", re.I), f"the authors of {name}"),
        (_DEFINITE, name),
        (re.compile(r"\b(?:its|their|his|her)\b", re.I), f"{name}'s"),
        (re.compile(r"\b(?:they|he|she)\b", re.I), f"the authors of {name}"),
        (re.compile(r"\b(?:it|itself|them|theirs)\b", re.I), name),
    )
    blank = _EXPLETIVE.sub(lambda m: " " * len(m.group()), question)
    for form, put in forms:
        if match := form.search(blank):
            kept = re.match(
                r"(?:of|on|for|with|to|about|from|by|in|at|than|against|does|is|was|do"
                r"|did|are|why|how) ",
                match.group(),
                re.I,
            )
            start = match.start() + (kept.end() if kept else 0)
            return f"{question[:start]}{put}{question[match.end() :]}"
    return question


def _names_others(question: str, conversation: Conversation) -> list[str]:
    """The names in a question that the papers spoken of do not have."""
    texts = [f"{paper.title} {paper.text}" for paper in conversation.subject]
    names = own_names(question)
    return [n for n in names if not any(stands_in(n, text) for text in texts)]


def _refers_in_other_languages(question: str) -> bool:
    refers = language_of(question).refers
    return bool(refers and re.search(refers, question, re.IGNORECASE))
