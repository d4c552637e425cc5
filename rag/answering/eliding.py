"""Follow-ups that leave out what they ask: "yes", "and ARC?", "what about latency?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.answering.conversation import Conversation, names_paper, short_name
from rag.answering.followed import Followed, Names
from rag.answering.kinds import kind_of
from rag.answering.phrases.languages import LANGUAGES
from rag.answering.referring import called, own_names, pointed, stands_in, topical, unnamed
from rag.schema import Paper
from rag.text import tokens

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

_OVER_ALL = frozenset({"list", "count"})


_BARE = re.compile(
    r"(?:and |but |so )?(?P<asked>why(?: not)?|how(?: so| come| exactly)?|in what way|are you sure"
    r"|really|explain|elaborate|when|where|since when|with what|on what|by how much|how much"
    r"|how many)(?: please)?[?.! ]*",
    re.IGNORECASE,
)


def bare(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """Why? By how much? Nothing but that, of what was answered last."""
    match = _BARE.fullmatch(question)
    if not match:
        return None
    last = conversation.turns[-1].asked.rstrip(" ?.!")
    text = f"{last}, and {match['asked'].lower()}?"
    return Followed(text, "ellipsis", conversation.subject)


def affirmed(question: str, conversation: Conversation, _: Names) -> Followed | None:
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


_ABOUT = re.compile(
    r"^(?:(?:and|but|so|ok(?:ay)?|well|then|also|now)[, ]+)*(?:what|how) about (?P<one>.+?)[?.! ]*$"
    r"|^(?:and|or|but|also|same|the same)(?: question)?[, ]+(?P<two>.+?)[?.! ]*$"
    r"|^(?P<three>\S+(?: \S+){0,2})\?$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"^(?:(?P<prep>on|in|for|with|at|of|against|over|to|under|without|using|by|from|than)\s+)?"
    r"(?:(?:the|its|their)\s+)?(?P<thing>.+)$",
    re.IGNORECASE,
)
_MOST_WORDS = 7
_TOPIC = 2  # words that may be a topic of their own
_NO_THING = re.compile(r"now|then|next|else|again|so|there|more", re.IGNORECASE)
_OF_ASPECT = "What about "
_ARTICLES = frozenset("the la le les el los las die der das den dem o a os as un une".split())
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|how|what"
    r"|which|why|who|when|where|compare|explain|list|show|give|tell|describe|summari[sz]e)\b",
    re.IGNORECASE,
)


def elliptic(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """And ARC? What about latency? The last question, asked of something else."""
    if thing := _about_in_other_languages(question):
        return _in_its_language(question, asked_of(thing, conversation, names))
    match = _ABOUT.match(question)
    if not match:
        return None
    thing = match["one"] or match["two"] or match["three"]
    if match["three"] and not (_is_name(thing) or names(thing) or pointed(thing, conversation)):
        return None
    if len(thing.split()) > _MOST_WORDS or _VERB.search(thing) or _NO_THING.fullmatch(thing):
        return None
    return asked_of(thing, conversation, names)


def _in_its_language(question: str, found: Followed) -> Followed:
    """Where the last question could not be taken up, the words of this one."""
    name = called(found.papers)
    if not found.text.startswith(_OF_ASPECT) or not name:
        return found
    return replace(found, text=f"{question.rstrip(' ?？')} ({name})?")


def asked_of(thing: str, conversation: Conversation, names: Names) -> Followed:
    """The last question put to `thing`: another paper, another item, or another aspect."""
    last, subject = conversation.turns[-1].asked, conversation.subject
    if kind_of(last) in _OVER_ALL:  # the next list is over all papers, too
        subject = ()
    parts = _PREPOSITION.match(thing)
    preposition = (parts["prep"] or "").lower() if parts else ""
    bare = parts["thing"].strip() if parts else thing
    if meant := pointed(thing, conversation):
        if meant.papers:
            text = _put_to(last, subject, called(meant.papers))
            return Followed(text, "ellipsis", meant.papers, search=unnamed(text, meant.papers))
        bare = meant.name
    if subject and any(stands_in(bare, paper.text) for paper in subject):
        return Followed(_of_item(last, subject, bare, preposition), "ellipsis", subject)
    paper = names(bare)
    if paper and (not preposition or preposition in {"for", "in", "with", "of"}):
        name = short_name(paper) or bare
        return Followed(_put_to(last, subject, name), "ellipsis", (paper,))
    if own_names(f"x {bare}") and not preposition:
        return Followed(_put_to(last, subject, bare), "ellipsis", sure=False)
    whole = _of_item(last, subject, bare, preposition)
    return Followed(whole, "ellipsis", subject, sure=len(topical(bare)) < _TOPIC)


def _is_name(thing: str) -> bool:
    """Whether there is nothing but names in a question, as in "ARC?"."""
    return thing.isascii() and all(own_names(f"x {word}") for word in thing.split())


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
    return f"{_OF_ASPECT}{thing}{f' in {name}' if name else ''}?"


def _says_yes(question: str) -> bool:
    said = " ".join(tokens(question))
    return any(language.yes and re.fullmatch(language.yes, said) for language in LANGUAGES)


def _about_in_other_languages(question: str) -> str:
    """What is asked about in a question of a few words that is not in English, else nothing."""
    for language in LANGUAGES:
        if not language.and_about:
            continue
        match = re.fullmatch(language.and_about, question.strip(), re.IGNORECASE)
        words = match["thing"].strip(" ?？").split() if match else []
        if words[1:] and words[0].lower() in _ARTICLES:
            words = words[1:]
        if words and language.common.isdisjoint(word.lower() for word in words):
            return " ".join(words)
    return ""


def is_question(text: str) -> bool:
    """Whether a text asks by itself, and is no mere name or phrase."""
    return bool(_VERB.search(text)) and len(text.split()) > 2
