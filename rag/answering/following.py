"""A follow-up made self-contained by rules, before anything is searched for it.

Whether a question goes on about what was said, and about which papers, is decided by its words:
"it" and "the second one" point back, "and ARC?" asks the last question of something else, "yes"
takes up an offer, "no, I meant …" corrects. A question that can be understood alone is left as it
is, and the past has no part in it. Where the words do not decide, `sure` is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag.answering.conversation import Conversation, names_paper, short_name
from rag.answering.phrases.languages import LANGUAGES
from rag.answering.referring import (
    called,
    own_names,
    pointed,
    stands_in,
    topical,
)
from rag.answering.speech import language_of
from rag.index.browse import Filter
from rag.retrieval.query import Question
from rag.schema import Paper
from rag.text import legible, tokens

Names = Callable[[str], Paper | None]
"""The paper of the collection that has a name, if there is one."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A question as it can be understood alone.

    `rule` says how it was understood, empty for one that needed nothing. `papers` are those that
    alone can answer it, `without` the ids of those that cannot, being talked of already. `search`
    is what is looked for where that is not `text`. `more` asks for what was not shown yet.
    """

    text: str
    rule: str = ""
    papers: tuple[Paper, ...] = ()
    without: frozenset[str] = frozenset()
    search: str = ""
    more: bool = False
    sure: bool = True

    @property
    def searched(self) -> Question:
        """What is to be searched."""
        return Question(self.search or self.text)

    @property
    def filters(self) -> tuple[Filter, ...]:
        """What papers must have to answer."""
        return (Filter(papers=tuple(paper.id for paper in self.papers)),) if self.papers else ()

    def told(self) -> dict[str, object]:
        """What the manifest of an answer says of it: nothing where nothing was done."""
        if not self.rule:
            return {}
        papers = [paper.id for paper in self.papers]
        return {"follow_up": {"text": self.text, "rule": self.rule, "papers": papers}}


Rule = Callable[[str, Conversation, Names], Followed | None]


def follow(question: str, conversation: Conversation, names: Names) -> Followed:
    """What a question asks, given what was said before."""
    if conversation.turns:
        for rule in _RULES:
            if found := rule(question, conversation, names):
                return found
    return Followed(question)


# --- Yes, and corrections ------------------------------------------------------------------

_YES = re.compile(
    r"(?:yes|yep|yeah|sure|ok(?:ay)?|go on|go ahead|continue|please do|do it|tell me(?: some)? more"
    r"|more(?: details)?|what else|anything else|and\?|of course|absolutely)"
    r"(?:[,. ]*(?:please|yes|do|go (?:on|ahead)|tell me(?: more)?|thanks|sure|about (?:it"
    r"|that)))*[.!?]*",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"[^.?!\n]*\b(?:would you like|do you want|shall i|should i|can i|interested in|want me to"
    r"|may i|i can also)\b(?P<offered>[^?\n]*)[?.!]?\s*$",
    re.IGNORECASE,
)
_OFFER_WORDS = re.compile(
    r"\b(?:me|to|know|hear|see|give|tell|show|you|learn|have|get|more|some|the|details?|about|on|of"
    r"|i|can|for|a|an|any|further|information|explain|describe|also)\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"^(?:(?:no|nope|sorry|oops|wait|actually|not that(?: one)?|pardon)\b[,.!:; –-]*)*"
    r"(?:(?:not|i did(?:n't| not) mean) [^,;.]{1,40}[,;.] *(?:but )?)?"
    r"(?:i (?:mean|meant|was asking about|am asking about|asked about)|rather|make that)?[,: ]*"
    r"(?P<meant>.+?)[.!?]*$",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:no|nope|sorry|oops|wait|actually|not that|pardon|not \S+[,;]|rather|make that"
    r"|i (?:mean|meant|was asking about|am asking about|did(?:n't| not) mean))\b",
    re.IGNORECASE,
)


def _affirmed(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """Yes to what the assistant offered, or a wish for more of what it spoke of."""
    if not _YES.fullmatch(question) and not _says_yes(question):
        return None
    last = conversation.turns[-1]
    name = called(conversation.subject)
    if offer := _OFFER.search(last.said):
        wanted = " ".join(_OFFER_WORDS.sub(" ", offer["offered"]).split()).strip(" ,")
        about = name or next(iter(own_names(last.asked)), "")
        text = f"What about {wanted}{f' of {about}' if about else ''}?"
        return Followed(text, "offer", conversation.subject)
    if not conversation.subject:
        return Followed(last.asked, "again")
    text = f"What else is reported{f' about {name}' if name else ''}?"
    return Followed(text, "more", conversation.subject, search=last.asked, more=True)


def _corrected(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """The last question, asked of what was meant."""
    if not _CORRECTION.match(question):
        return None
    match = _CORRECTS.match(question)
    meant = match["meant"].strip() if match else ""
    if not meant:
        return None
    if _is_question(meant):
        return replace(follow(meant, conversation, names), rule="correction")
    return replace(_asked_of(meant, conversation, names), rule="correction")


# --- And what about … ----------------------------------------------------------------------

_ABOUT = re.compile(
    r"^(?:(?:and|but|so|ok(?:ay)?|well|then|also|now)[, ]+)*(?:what|how) about (?P<one>.+?)[?.! ]*$"
    r"|^(?:and|or|but|also|same|the same)(?: question)?[, ]+(?P<two>.+?)[?.! ]*$"
    r"|^(?P<three>\S+(?: \S+){0,2})\?$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"^(?:(?P<prep>on|in|for|with|at|of|against|over|to|under|without|using|by|from|than)\s+)?"
    r"(?:the\s+)?(?P<thing>.+)$",
    re.IGNORECASE,
)
_MOST_WORDS = 7
_FEW = 3  # words that say what a question is about
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|how|what"
    r"|which|why|who|when|where|compare|explain|list|show|give|tell|describe|summari[sz]e)\b",
    re.IGNORECASE,
)


def _is_question(text: str) -> bool:
    return bool(_VERB.search(text)) and len(text.split()) > 2


def _elliptic(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """And ARC? What about latency? The last question, asked of something else."""
    thing = _about_in_other_languages(question)
    if not thing and (match := _ABOUT.match(question)):
        thing = match["one"] or match["two"] or match["three"] or ""
        if match["three"] and not (own_names(f"x {thing}") or names(thing)):
            return None
    if not thing or len(thing.split()) > _MOST_WORDS or _VERB.search(thing):
        return None
    return _asked_of(thing, conversation, names)


def _asked_of(thing: str, conversation: Conversation, names: Names) -> Followed:
    """The last question put to `thing`: another paper, another item, or another aspect."""
    last, subject = conversation.turns[-1].asked, conversation.subject
    parts = _PREPOSITION.match(thing)
    preposition = (parts["prep"] or "").lower() if parts else ""
    bare = parts["thing"].strip() if parts else thing
    if meant := pointed(thing, conversation):
        if meant.papers:
            text = _put_to(last, subject, called(meant.papers))
            return Followed(text, "ellipsis", meant.papers, search=_unnamed(text, meant.papers))
        bare = meant.name
    if subject and any(stands_in(bare, paper.text) for paper in subject):
        return Followed(_of_item(last, subject, bare, preposition), "ellipsis", subject)
    paper = names(bare)
    if paper and (not preposition or preposition in {"for", "in", "with", "of"}):
        name = short_name(paper) or bare
        return Followed(_put_to(last, subject, name), "ellipsis", (paper,))
    if own_names(f"x {bare}") and not preposition:
        return Followed(_put_to(last, subject, bare), "ellipsis", sure=False)
    return Followed(_of_item(last, subject, bare, preposition), "ellipsis", subject, sure=False)


def _put_to(last: str, subject: Sequence[Paper], name: str) -> str:
    """The last question with another name in place of the one that it was about."""
    if not name:
        return last
    known = [short_name(paper) for paper in subject if names_paper(last, paper)]
    for old in known or own_names(last)[-1:]:
        return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: name, last, flags=re.IGNORECASE)
    return last if stands_in(name, last) else f"{name}: {last}"


def _of_item(last: str, subject: Sequence[Paper], thing: str, preposition: str) -> str:
    """The last question about another thing of the same paper."""
    names = {short_name(paper).casefold() for paper in subject}
    others = [one for one in own_names(last) if one.casefold() not in names]
    if others and own_names(f"x {thing}"):
        return re.sub(rf"(?<!\w){re.escape(others[-1])}(?!\w)", lambda _: thing, last)
    if preposition:
        return f"{last.rstrip(' ?.!')} {preposition} {thing}?"
    name = called(subject)
    return f"What about {thing}{f' in {name}' if name else ''}?"


# --- It, they, the second one --------------------------------------------------------------

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
_ALIKE = re.compile(r"\b(?:same|similar|related|alike|like (?:it|this|that)|this|that)\b", re.I)


def _pointing(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """The second one, the last of those, both, [2]."""
    meant = pointed(question, conversation)
    if not meant:
        return None
    before, after = question[: meant.start], question[meant.end :]
    if not meant.papers:
        text = f"{before}{meant.name}{after}"
        rest = _pronoun(text, conversation, names)
        return (
            replace(rest, rule="ordinal")
            if rest
            else Followed(text, "ordinal", conversation.subject)
        )
    name = called(meant.papers)
    text = f"{before}{name}{after}" if name else question
    return Followed(text, "ordinal", meant.papers, search="" if name else question)


def _another(question: str, conversation: Conversation, _: Names) -> Followed | None:
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
    name = called(conversation.subject)
    text = f"{question.rstrip(' ?.!')}, besides {name}?" if name else question
    topic = legible(first.title if not first.title_derived else first.sentences[0].text)
    return Followed(
        text, "another", without=without, search=f"{' '.join(topical(question))} {topic}"
    )


def _pronoun(question: str, conversation: Conversation, names: Names) -> Followed | None:
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
    if others and not strong and not _is_inverted(before):
        return None
    papers = (*papers, *(paper for paper in others if paper not in papers))
    sure = strong or not inside or _is_inverted(before)
    return Followed(text, "reference", papers, search=_unnamed(text, papers), sure=sure)


def _is_inverted(before: str) -> bool:
    """Whether "does" or the like stands right before: then the subject is not in the question."""
    return bool(re.search(rf"\b{_AUX}\s*$", before, re.IGNORECASE))


def _is_coordinate(before: str) -> bool:
    return bool(re.search(r"\w (?:and|but|or|because|if|when|while)\b|[,;:] ", before))


def _topicless(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """What datasets were used? Of which paper, only the conversation says."""
    about = _refers_in_other_languages(question)
    if not conversation.subject or own_names(question):
        return None
    if re.search(
        r"\b(?:papers|studies|works|collection|articles|abstracts|anyone)\b", question, re.I
    ):
        return None
    left = topical(question)
    if not about and len(left) >= _FEW:
        return None
    name = called(conversation.subject)
    text = f"{question.rstrip(' ?？.!')} ({name})?" if name else question
    sure = about or not left
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


def _unnamed(text: str, papers: Sequence[Paper]) -> str:
    """What is searched among papers that are given: their names would say nothing more."""
    return "" if called(papers) else text


def _names_others(question: str, conversation: Conversation) -> list[str]:
    """The names in a question that the papers spoken of do not have."""
    texts = [f"{paper.title} {paper.text}" for paper in conversation.subject]
    names = own_names(question)
    return [n for n in names if not any(stands_in(n, text) for text in texts)]


# --- Other languages -----------------------------------------------------------------------


def _says_yes(question: str) -> bool:
    said = " ".join(tokens(question))
    return any(language.yes and re.fullmatch(language.yes, said) for language in LANGUAGES)


def _about_in_other_languages(question: str) -> str:
    for language in LANGUAGES:
        if language.and_about and (
            match := re.fullmatch(language.and_about, question.strip(), re.IGNORECASE)
        ):
            return match["thing"].strip(" ?？")
    return ""


def _refers_in_other_languages(question: str) -> bool:
    refers = language_of(question).refers
    return bool(refers and re.search(refers, question, re.IGNORECASE))


_RULES: tuple[Rule, ...] = (
    _affirmed,
    _corrected,
    _elliptic,
    _pointing,
    _another,
    _pronoun,
    _topicless,
)
