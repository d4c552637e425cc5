"""A follow-up made self-contained by rules, before anything is searched for it.

Whether a question goes on about what was said, and about which papers, is decided by its words:
"it" and "the second one" point back, "and ARC?" asks the last question of something else, "yes"
takes up an offer, "no, I meant …" corrects. A question that can be understood alone is left as it
is, and the past has no part in it. Where the words do not decide, `sure` is false.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rag.answering.conversation import Conversation
from rag.answering.eliding import affirmed, asked_of, bare, elliptic, is_question
from rag.answering.followed import Followed, Names, Rule
from rag.answering.narrowing import among, shortened
from rag.answering.pronouns import another, pointing, pronoun, topicless


def follow(question: str, conversation: Conversation, names: Names) -> Followed:
    """What a question asks, given what was said before."""
    if conversation.turns:
        for rule in _RULES:
            if found := rule(question, conversation, names):
                return found
    return Followed(question)


_CORRECTS = re.compile(
    r"^(?:(?:no|nope|sorry|oops|wait|actually|not that(?: one)?|pardon)\b[,.!:; –-]*)*"
    r"(?:(?:not|i did(?:n't| not) mean) [^,;.]{1,40}[,;.] *(?:but )?)?"
    r"(?:i (?:meant|mean|was asking about|am asking about|asked about)|rather|make that)?[,: ]*"
    r"(?P<meant>.+?)[.!?]*$",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|sorry|oops|wait|actually|pardon|not that)(?:(?= *[,.!:;–-])|(?= i\b))"
    r"|not \S+[,;]|make that"
    r"|i (?:meant|mean|was asking about|am asking about|did(?:n't| not) mean)\b)",
    re.IGNORECASE,
)


def _corrected(question: str, conversation: Conversation, names: Names) -> Followed | None:
    """The last question, asked of what was meant."""
    if not _CORRECTION.match(question):
        return None
    match = _CORRECTS.match(question)
    meant = match["meant"].strip() if match else ""
    if not meant:
        return None
    if is_question(meant):
        whole = question[match.start("meant") :] if match else meant
        return replace(follow(whole, conversation, names), rule="correction")
    return replace(asked_of(meant, conversation, names), rule="correction")


_RULES: tuple[Rule, ...] = (
    affirmed,
    bare,
    shortened,
    _corrected,
    elliptic,
    among,
    pointing,
    another,
    pronoun,
    topicless,
)
