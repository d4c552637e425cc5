"""Claims read from a model's reply, as it comes.

A reply is JSON or, where a server has no JSON schemas, one claim to a line behind the labels of its
sentences. Models put much around it and some put it otherwise; what can be read without guessing
is read, and nothing here fails.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim as the model made it: its text, and the labels of the sentences it relies on.

    `strays` is what it names as its support that is no label, such as `9` or `Smith 2020`.
    """

    text: str
    labels: tuple[str, ...]
    strays: tuple[str, ...] = ()


_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?</think>", re.DOTALL)
_TURN_END = re.compile(r"<\|[^|>\n]{1,40}\|>|</s>|\[/?INST\]")
_CLAIMS = re.compile(r"\{\s*\"claims\"")
_JSON = re.compile(r"\{|\[\s*(?:[{\[\]]|\Z)")
_LABELS = r"S\d+(?:\s*(?:,|;|and|&|-|–|to|\]\s*\[)\s*S\d+)*"
_LEADING = re.compile(
    rf"^[\s>*•-]*(?:\d+[.)]\s*)?[\[(]{{0,2}}\s*(?P<labels>{_LABELS})\s*[\])]{{0,2}}\s*[:.–—-]*\s*"
)
_TRAILING = re.compile(
    rf"\s*[\[(]{{1,2}}\s*(?P<labels>{_LABELS})\s*[\])]{{1,2}}\s*(?P<end>[.!?]?)\s*$"
)
_LABEL = re.compile(r"(?<!\w)S(\d{1,6})(?:\s*(?:-|–|to)\s*S(\d{1,6}))?(?!\w)")
_LONGEST_RANGE = 20
_NESTING = 3  # the reply, a claim in it, a sentence that the claim names
_TURN = re.compile(r"^\W*(?:question|user|human|instructions?|q)\s*:", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"\b(?:(?:could|can|did|do|does)(?: not|n[’']t)|cannot|unable to|no)\b[^.!?]{0,60}?"
    r"\b(?:find|found|contain|mention|provide|state|say|answer|address|information|discuss"
    r"|specif|include|cover|determine)",
    re.IGNORECASE,
)
_NOT_FOUND_CHARS = 240
_ABOUT_EVIDENCE = re.compile(
    r"\b(?:sentences|(?:provided|given|above|labell?ed|quoted|supplied|these)"
    r" (?:text|context|evidence|information|papers?|abstracts?|passages?|sources?|documents?))\b"
    r"[^.!?]{0,30}?\b(?:(?:can|could|did|do|does)(?: not|n[’']t)|cannot|no)\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(r"^\W*(?:none|no claims?|not (?:stated|found|given))\W*$", re.IGNORECASE)
# Models write \beta and \% in JSON strings without doubling the backslash; JSON would read the
# first as a backspace and refuse the second. Nobody means a backspace or a form feed.
_LATEX_ESCAPE = re.compile(
    r"(?<!\\)\\(?=[^\"\\/bfnrtu]|[bf][A-Za-z]"
    r"|n(?:u\b|abla|eq?\b|eg\b|ot(?:in)?\b|orm|sim\b)|r(?:ho|ight|m\b|angle|floor|ceil)"
    r"|t(?:imes|heta|au\b|ext|ilde|frac|o\b|op\b)|u(?![0-9a-fA-F]{4}))"
)


class ReplyReader:
    """Takes a reply piece by piece and gives each claim as soon as it is complete.

    `prompts` is what the model was given, in order; what a reply repeats of it is no claim.
    """

    def __init__(self, prompts: Sequence[str] = ()) -> None:
        self._text = ""
        self._prompts = [[line.strip() for line in p.split("\n") if line.strip()] for p in prompts]
        self._given: Counter[Draft] = Counter()

    def feed(self, piece: str) -> list[Draft]:
        """The claims with a label that `piece` completed."""
        self._text += piece
        return [draft for draft in self._new(final=False) if draft.labels]

    def finish(self, *, whole: bool = True) -> list[Draft]:
        """The claims that the end of a `whole` reply completes, and those without a label.

        These wait so long because a line of preface is read as one until the JSON behind it comes.
        """
        repeated = {line for prompt in self._prompts for line in prompt}
        drafts = self._new(final=whole)
        return [draft for draft in drafts if draft.labels or draft.text not in repeated]

    @property
    def whole(self) -> str:
        """All that has come so far."""
        return self._text

    @property
    def text(self) -> str:
        """What has come so far, behind what it repeats of the prompts."""
        return _behind(self._prompts, self._text)

    @property
    def says_nothing(self) -> bool:
        """Whether the whole reply says, in the form that was asked for, that there is no claim.

        A thought or a prompt with nothing behind it says nothing of the kind.
        """
        said = _THOUGHT.sub("", self.text)
        if not said.strip():
            return not self._text.strip()
        drafts = read_reply(said)
        denied = bool(drafts) and all(_denies_evidence(draft.text) for draft in drafts)
        return denied or _denies_claims(said)

    def _new(self, *, final: bool) -> list[Draft]:
        """The claims that were not given before."""
        fresh: list[Draft] = []
        seen: Counter[Draft] = Counter()
        for draft in read_reply(self.text, final=final):
            seen[draft] += 1
            if seen[draft] > self._given[draft]:
                fresh.append(draft)
        self._given += Counter(draft for draft in fresh if draft.labels)
        return [draft for draft in fresh if not _denies_evidence(draft.text)]


def _behind(prompts: Sequence[Sequence[str]], text: str) -> str:
    """`text` without the lines at its beginning that are the first ones of a prompt."""
    lines = text.split("\n")
    start = 0
    for prompt in prompts:
        for line in prompt:
            place = next((n for n in range(start, len(lines)) if lines[n].strip()), len(lines))
            if "".join(lines[place : place + 1]).strip() != line:
                break
            start = place + 1
    return "\n".join(lines[start:])


def read_reply(text: str, *, final: bool = True) -> list[Draft]:
    """The claims in a reply, in order. Not `final`: only those that more text cannot change."""
    text = _THOUGHT.sub("", text)
    if "<think>" in text or (not final and text.lstrip().startswith("<")):
        return []
    text = _unwrapped(text)
    if _JSON.match(text):
        return list(_from_json(text))
    lines = text.split("\n")
    return list(_from_lines(lines if final else lines[:-1]))


def _from_lines(lines: Sequence[str]) -> Iterator[Draft]:
    """The claim of each line, up to the turn of another speaker that a model makes up."""
    claimed = False
    for line in lines:
        if claimed and _TURN.match(line):
            return
        if draft := _from_line(line):
            claimed = claimed or bool(draft.labels)
            yield draft


def _denies_claims(text: str) -> bool:
    text = _unwrapped(text).strip()
    if _PROMISE.match(text) or _finds_nothing(text):
        return True
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("claims") in ([], "[]")


def _finds_nothing(text: str) -> bool:
    """Whether a reply says in a sentence or two that the papers do not say, and claims nothing."""
    short = len(text) <= _NOT_FOUND_CHARS and not labels_in(text)
    return short and bool(_NOT_FOUND.search(text)) and not _JSON.match(text)


def _denies_evidence(text: str) -> bool:
    """Whether a claim says that what the model was given does not say something.

    That is no claim about a paper, though a model may put labels before it.
    """
    return bool(_ABOUT_EVIDENCE.search(text) and _NOT_FOUND.search(text))


def _unwrapped(text: str) -> str:
    """A reply without what models put around it: a fence, a preface, the marks of a turn."""
    if turn := _TURN_END.search(text.lstrip()):
        text = text.lstrip()[: turn.start()]
    if claims := _CLAIMS.search(text):
        return text[claims.start() :]
    text = text.lstrip()
    if text.startswith("```"):
        text = text.partition("\n")[2]
    stripped = text.rstrip()
    return stripped.removesuffix("```") if stripped.endswith("```") else text


def labels_in(text: str) -> list[str]:
    """The labels named in `text`, `S1-S3` in full; a range without measure stays one name."""
    found: list[str] = []
    for match in _LABEL.finditer(text):
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        whole = 0 <= last - first < _LONGEST_RANGE
        found += [f"S{n}" for n in range(first, last + 1)] if whole else [match.group()]
    return list(dict.fromkeys(found))


def _from_json(text: str) -> Iterator[Draft]:
    """Every complete claim that stands inside the outermost object or list.

    Some models put the list, or the arguments of a call that they make up, into a string.
    """
    for value in _values(text):
        inner = value.get("claims", value.get("arguments"))
        if isinstance(inner, str):
            yield from _from_json(inner)
        elif inner is None and (draft := _from_object(value)):
            yield draft


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """Every complete JSON object of a reply, inner ones first, whatever stands around them."""
    return _values(_unwrapped(_THOUGHT.sub("", text)))


def with_latex(text: str) -> str:
    """JSON whose strings keep their LaTeX: a lone backslash that starts a command is doubled."""
    return _LATEX_ESCAPE.sub(r"\\\\", text)


def spoken(text: str) -> str:
    """What a reply says: without the thought before it and the turn that it makes up behind it."""
    said = _THOUGHT.sub("", text).lstrip()
    turn = _TURN_END.search(said)
    return said[: turn.start()] if turn else said


def _values(text: str) -> Iterator[dict[str, object]]:
    for start, end in _objects(text):
        try:
            value = json.loads(with_latex(text[start:end]))
        except (ValueError, RecursionError):
            continue
        yield value


def _from_object(value: Mapping[str, object]) -> Draft | None:
    """A claim, unless it has no text or is itself a sentence that a claim names."""
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    if "support" not in value and not _REFERENCE.isdisjoint(value):
        return None
    support = value.get("support") or []
    named = [_reference(item) for item in (support if isinstance(support, list) else [support])]
    labels = dict.fromkeys(label for name in named for label in labels_in(name))
    strays = dict.fromkeys(name for name in named if name and not labels_in(name))
    return Draft(text.strip(), tuple(labels), tuple(strays))


_REFERENCE = frozenset({"id", "label", "sentence"})


def _reference(item: object) -> str:
    """What one item of a claim's support names: itself, or its `id` where it is an object."""
    if isinstance(item, dict):
        return " ".join(str(item[key]) for key in item if key in _REFERENCE)
    return str(item)


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of each complete `{…}` of a JSON text, inner ones first, as far out as claims go.

    Braces within strings are left out.
    """
    opened: deque[int] = deque(maxlen=_NESTING)
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text, re.DOTALL):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            yield opened.pop(), match.end()


def _from_line(line: str) -> Draft | None:
    """A claim of the text protocol: `S1, S2: the claim`, or the labels behind it."""
    lead, trail = _LEADING.match(line), _TRAILING.search(line)
    if lead and line[lead.end() :].strip():
        text, named = line[lead.end() :], lead.group("labels")
    elif trail:
        text, named = line[: trail.start()], trail.group("labels")
        text += "" if text.endswith((".", "!", "?")) else trail.group("end")
    else:
        text, named = line, ""
    text = text.strip().lstrip("*•- ").strip()
    if not any(c.isalnum() for c in text) or _PROMISE.match(text):
        return None
    return Draft(text, tuple(labels_in(named)))
