"""A title to show for an abstract that has none: its system's name, else its first clause."""

from __future__ import annotations

import re

from rag.text import plain, split_sentences

_LONGEST_CLAUSE = 90
_SHORTEST_CLAUSE = 40
_INTRODUCES = re.compile(
    r"\b(?:we|paper|work|study|article|here)\b[^.]{0,80}?\b(?:propos|introduc|present|develop|design"
    r"|devis|construct|formulat|build|call|term|releas|defin|describ|contribut|advocat|derive|study"
    r"|unveil|offer|provid|recover|instantiat|address|resulting)\w*|\b(?:called|termed|dubbed|named|namely)\b"
    r"|\bresulting (?:method|algorithm|framework|approach)\b",
    re.IGNORECASE,
)
_BY_NAME = re.compile(
    r"(?:called|termed|dubbed|named|namely|term|call(?:\s+it)?|method,|algorithm,|framework,"
    r"|approach,|estimator,)\s+[*\"“]*(?P<name>(?:[A-Z][\w/+-]*\s+){0,3}[A-Z][\w/+-]*)"
)
_IN_BRACKETS = re.compile(r"\(\s*[*]*(?P<name>[A-Za-z][\w/+-]*[A-Z0-9][\w/+-]*)[*]*\s*\)")
_BARE_NAME = re.compile(
    r"(?<![\w\\$({/√-])"
    r"(?:[A-Za-z]*[a-zA-Z0-9][A-Z]\w*(?:[-+]\w+)*|[A-Z]\w*(?:-\w*[A-Z0-9]\w*)+)(?![\w}])"
)


def derive_title(text: str) -> str:
    """The name that the abstract gives to its own system, else its first clause, as plain text."""
    return own_name(text) or _first_clause(text)


def own_name(text: str) -> str | None:
    """The name in the first sentence that introduces something which was not named before.

    A name that already stood in an earlier sentence belongs to somebody else's system.
    """
    earlier = ""
    for start, end in split_sentences(text):
        sentence = plain(text[start:end])
        introduction = _INTRODUCES.search(sentence)
        if introduction:
            known = f"{earlier} {sentence[: introduction.start()]}"
            if name := _new_name(sentence[introduction.start() :], known, text):
                return name
        earlier = f"{earlier} {sentence}"
    return None


def _new_name(introduction: str, known: str, text: str) -> str | None:
    candidates = [
        match.groupdict().get("name") or match.group()
        for pattern in (_BY_NAME, _IN_BRACKETS, _BARE_NAME)
        for match in pattern.finditer(introduction)
    ]
    fresh = [c for c in candidates if not _contains(known, c) and not _is_generic(c)]
    return max(fresh, key=lambda c: (_count(text, c) > 1, -fresh.index(c)), default=None)


def _contains(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}s?(?!\w)", text) is not None


def _count(text: str, name: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", plain(text)))


def _is_generic(name: str) -> bool:
    """A plural such as LLMs, or a field's own abbreviation: not what one calls a new system."""
    return bool(re.fullmatch(r"[A-Z0-9-]+s", name)) or name.upper() in _FIELD_ACRONYMS


_FIELD_ACRONYMS = frozenset(
    "AI ML RL LLM LLMS VLM VLA MLLM GPU CPU TPU NLP CNN RNN GNN MLP SGD ADAM MDP POMDP CVAR KL DPO "
    "PPO GRPO RLHF RLVR SFT RAG QA VQA OOD IID 3D 2D 4D API CLIP BERT GPT MRI CT ICL COT MOE LORA "
    "FMRI ODE SDE PDE GAN VAE EAS MT-RL MT-FRL IL FL SOTA URL HTTP".split()
)


def _first_clause(text: str) -> str:
    start, end = next(iter(split_sentences(text)), (0, len(text)))
    sentence = plain(text[start:end]).rstrip(".。!?！？")
    if len(sentence) <= _LONGEST_CLAUSE:
        return sentence
    clause = re.match(
        rf".{{{_SHORTEST_CLAUSE},{_LONGEST_CLAUSE}}}?(?=[,;:，；：]\s|\s[-–—(])", sentence
    )
    if clause:
        return clause.group()
    cut = sentence[: _LONGEST_CLAUSE + 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut[:-1]) + "…"
