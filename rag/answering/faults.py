"""What went wrong at a model server, in words for the reader. Pure; works on duck-typed values.

Each rule turns a status and a body into a `Fault`: the error to raise for it and whether another
attempt may help. (What the connection itself does wrong is told by `connection`.) Whatever a
server said is quoted short, printable and without anything that looks like a key, because servers
echo the key they refuse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rag.errors import ServerError

REDACTED = "[key]"
EMPTY = "empty reply"
CLOSED = "closed by this program"
SYSTEM = "the system message"
PARAMETERS = (
    *("stream_options", "temperature", "max_completion_tokens", "max_tokens"),
    *("top_logprobs", "logprobs"),
)
PASSING_STATUS = frozenset({408, 409, 429})

_QUOTE_CHARS = 240
_WORD = r"[^\s'\",;()]*"
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai|nvapi)[-_][\w*.\-]{3,}"  # the prefixes that providers use
    r"|\bAIza[\w*\-]{8,}"
    rf"|{_WORD}\*{{3,}}{_WORD}"  # a key that the server masked itself
    r"|(?<=Bearer )[^\s'\"]+"
    r"|(?<=://)[^\s/@]+(?=@)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context_length_exceeded|maximum context length|available context size|exceed_context_size"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|prompt is too long"
    r"|input (?:\(\d+ tokens\) )?is too large to process|maximum model length"
    r"|must have less than \d+ tokens|maximum allowed batch size"
    r"|max(?:imum)?[ _]tokens[ _]per[ _]request",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:context length is|context size \(|context window of|maximum model length of) ?(\d+)", re.I
)
_PROMPT = re.compile(
    r"(?:you requested|request \(|request has|prompt \(length|Requested tokens \() ?(\d+)", re.I
)
_SCHEMA = re.compile(
    r"response_format|json_schema|json schema|structured.output|grammar|guided", re.I
)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed"
    r"|extra_forbidden|instead|only the default",
    re.IGNORECASE,
)
_ROLES = re.compile(
    r"\bsystem\W{0,3} (?:role|message|prompt)s?\b[^.]{0,40}\b(?:not|un|n't)[ -]?(?:be )?"
    r"(?:support|allow|accept|permit)|(?:not|n't) (?:support|allow|accept)\w*[^.]{0,30}\bsystem\b"
    r"|\broles? must alternate|\b(?:unexpected|invalid|unknown) role\b",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)


class ContextTooSmall(ServerError):
    """The prompt does not fit; `prompt_tokens` and `window` are what the server told, if it did."""

    def __init__(
        self,
        what: str,
        *,
        cause: str,
        remedy: str,
        prompt_tokens: int | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__(what, cause=cause, remedy=remedy)
        self.prompt_tokens = prompt_tokens
        self.window = window


class SchemaUnsupported(ServerError):
    """The server takes no JSON schema: ask again without one, with a prompt for plain text."""


class NothingSaid(ServerError):
    """The model ended without a word of an answer: the evidence can be quoted in its place."""


class RateLimited(ServerError):
    """The server refuses because too much is asked of it: ask later, or less at once."""


class Fault(Exception):
    """A failed attempt.

    Attributes:
        error: what the caller gets to see if nothing helps.
        passing: another attempt may succeed.
        reason: why it failed, for the line that announces a wait.
        wait: seconds that the server asked to wait, if it did.
        parameter: the request parameter that the server refused, if that was it.
        about_model: the model or the address was not found, so a list of models would help.
    """

    def __init__(
        self,
        error: ServerError,
        *,
        passing: bool = False,
        reason: str = "",
        wait: float | None = None,
        parameter: str = "",
        about_model: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.reason = reason
        self.wait = wait
        self.parameter = parameter
        self.about_model = about_model

    @property
    def limits(self) -> bool:
        """Whether the server has too much to do: it limits the rate, or names a time to wait."""
        return isinstance(self.error, RateLimited) or self.wait is not None


@dataclass(frozen=True, slots=True)
class Knobs:
    """What the settings of a server are called, and what to do about too long a text."""

    url: str = "OPENAI_BASE_URL"
    key: str = "OPENAI_API_KEY"
    model: str = "OPENAI_MODEL"
    too_long: str = "Lower evidence_sentences, or serve the model with a larger context window."


CHAT = Knobs()


@dataclass(frozen=True, slots=True)
class Peer:
    """The server as it is shown, the key that must not be, and the settings that lead to it."""

    host: str
    key: str
    knobs: Knobs = CHAT

    def quote(self, text: str) -> str:
        """One printable line of at most 240 characters, without keys and passwords."""
        text = "".join(c if c.isprintable() else " " for c in text[: 8 * _QUOTE_CHARS])
        text = " ".join(text.split())
        if len(self.key) >= 4:
            text = text.replace(self.key, REDACTED)
        if len(self.key) >= 12:  # servers echo the beginning: redact the word that holds it
            text = re.sub(rf"{_WORD}{re.escape(self.key[:6])}{_WORD}", REDACTED, text)
        text = _KEY_LIKE.sub(REDACTED, text)
        return text if len(text) <= _QUOTE_CHARS else text[: _QUOTE_CHARS - 1] + "…"


@dataclass(frozen=True, slots=True)
class Reply:
    """A refusal by the server: the status, its words, and what had been asked."""

    peer: Peer
    status: int
    body: object
    sent: Collection[str] = ()
    wait: float | None = None
    told: bool = True  # False: the server gave no status and `status` is our guess

    @property
    def fields(self) -> Mapping[str, object]:
        """The error object; servers put it at the top or under `error`."""
        body = self.body
        if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
            body = body["error"]
        return body if isinstance(body, Mapping) else {}

    @property
    def text(self) -> str:
        """Everything the server said, for the rules to search."""
        return str(self.body)

    @property
    def cause(self) -> str:
        """The status and the server's own words, fit to be shown."""
        said = next((self.fields[k] for k in ("message", "detail") if self.fields.get(k)), None)
        if said is None and isinstance(self.body, Mapping):
            said = self.body.get("error")
        if said is None:
            said = self.body if isinstance(self.body, str) else ""
        words = self.peer.quote(str(said))
        if not self.told:
            return words
        return f"{self.status}: {words}" if words else f"status {self.status}"


def explain(reply: Reply) -> Fault:
    """The fault behind a refusal; the first rule that fits decides."""
    for rule in (_context, _roles, _schema, _parameter, _schema_by_status, _quota, _key, _missing):
        if (fault := rule(reply)) is not None:
            return fault
    return _by_status(reply)


def _context(reply: Reply) -> Fault | None:
    fits = reply.status in {400, 422, 500} and _CONTEXT.search(reply.text)
    if not fits and reply.status != 413:
        return None
    prompt = _number(reply.fields.get("n_prompt_tokens"), _PROMPT, reply.text)
    window = _number(reply.fields.get("n_ctx"), _WINDOW, reply.text)
    return Fault(
        ContextTooSmall(
            f"The prompt is too long for the model at {reply.peer.host}",
            cause=reply.cause,
            remedy=reply.peer.knobs.too_long,
            prompt_tokens=prompt,
            window=window,
        )
    )


def _number(value: object, pattern: re.Pattern[str], text: str) -> int | None:
    if isinstance(value, int):
        return value
    found = pattern.search(text)
    return int(found.group(1)[:12]) if found else None


def _schema(reply: Reply) -> Fault | None:
    asked = "response_format" in reply.sent
    fits = reply.status in {400, 422} or reply.status >= 500
    return _no_schema(reply) if asked and fits and _SCHEMA.search(reply.text) else None


def _schema_by_status(reply: Reply) -> Fault | None:
    vague = reply.status == 400 and _UNSUPPORTED.search(reply.text)
    fits = "response_format" in reply.sent and (vague or reply.status in {422, 501})
    return _no_schema(reply) if fits else None


def _no_schema(reply: Reply) -> Fault:
    return Fault(
        SchemaUnsupported(
            f"The server at {reply.peer.host} takes no JSON schema",
            cause=reply.cause,
            remedy='Set openai_output to "text".',
        )
    )


def _parameter(reply: Reply) -> Fault | None:
    if reply.status not in {400, 422} or not _UNSUPPORTED.search(reply.text):
        return None
    named = str(reply.fields.get("param") or "")
    for name in PARAMETERS:
        if name in reply.sent and (named == name or re.search(rf"\b{name}\b", reply.text)):
            error = ServerError(f"{reply.peer.host} refuses {name}", cause=reply.cause)
            return Fault(error, parameter=name)
    return None


def _roles(reply: Reply) -> Fault | None:
    """Of a chat template that knows no system message, or wants user and model by turns."""
    fits = reply.status in {400, 422, 500} and _ROLES.search(reply.text)
    if not (fits and _sends_system(reply.sent)):
        return None
    error = ServerError(f"{reply.peer.host} refuses the system message", cause=reply.cause)
    return Fault(error, parameter=SYSTEM)


def _sends_system(sent: Collection[str]) -> bool:
    messages = sent.get("messages") if isinstance(sent, Mapping) else None
    return isinstance(messages, list) and messages[0].get("role") == "system"


def _quota(reply: Reply) -> Fault | None:
    if reply.status != 402 and not (reply.status == 429 and _QUOTA.search(reply.text)):
        return None
    return Fault(
        ServerError(
            f"The quota at {reply.peer.host} is used up",
            cause=reply.cause,
            remedy="Check the plan of that account, or use another server or the local model.",
        )
    )


def _key(reply: Reply) -> Fault | None:
    if reply.status not in {401, 403}:
        return None
    error = ServerError(
        f"The key was refused by {reply.peer.host}",
        cause=reply.cause,
        remedy=f"Check {reply.peer.knobs.key} and what it may use.",
    )
    return Fault(error)


def _missing(reply: Reply) -> Fault | None:
    if reply.status != 404:
        return None
    knobs = reply.peer.knobs
    error = ServerError(
        f"The model or the address was not found at {reply.peer.host}",
        cause=reply.cause,
        remedy=f"Check {knobs.model}, and {knobs.url} (it usually ends in /v1).",
    )
    return Fault(error, about_model=True)


def _by_status(reply: Reply) -> Fault:
    host, status = reply.peer.host, reply.status
    if status == 429:
        limited = RateLimited(
            f"{host} limits the rate of requests", cause=reply.cause, remedy="Try again later."
        )
        return Fault(limited, passing=True, reason="rate limit", wait=reply.wait)
    if status in PASSING_STATUS or status >= 500:
        remedy = "Try again later, or look into the server's log."
        error = ServerError(f"The server at {host} failed", cause=reply.cause, remedy=remedy)
        return Fault(error, passing=True, reason=f"server error {status}", wait=reply.wait)
    if 300 <= status < 400:
        remedy = f"Set {reply.peer.knobs.url} to the address it redirects to."
        return Fault(ServerError(f"{host} redirects", cause=reply.cause, remedy=remedy))
    return Fault(ServerError(f"{host} refused the request", cause=reply.cause))


def explain_error_event(peer: Peer, body: object, sent: Collection[str]) -> Fault:
    """The fault behind an error that came with status 200; its `code` counts as the status."""
    reply = Reply(peer, 0, body, sent)
    code = reply.fields.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    fault = explain(Reply(peer, status, body, sent, told=status == code))
    fault.passing = fault.passing and status == code  # else nothing says that it will pass
    return fault


def empty(peer: Peer, finish: str | None) -> Fault:
    """The fault of a reply without text; at the token limit another attempt would not help."""
    if finish == "length":
        what = f"The model at {peer.host} reached the token limit before it wrote anything"
        remedy = "Raise max_answer_tokens, or use a model that does not think first."
        return Fault(NothingSaid(what, remedy=remedy))
    error = NothingSaid(f"The model returned nothing at {peer.host}", remedy="Ask again.")
    return Fault(error, passing=True, reason=EMPTY)


def ended_early(peer: Peer) -> Fault:
    """The fault of a stream that closed before it said that it was at its end."""
    return Fault(ServerError(f"The connection to {peer.host} ended early"))


def stopped(peer: Peer, cause: str) -> Fault:
    """The fault of a reply that this program cut: its time was over, or it was closed."""
    remedy = "" if cause == CLOSED else "Raise answer_timeout if the model is that slow."
    return Fault(ServerError(f"{peer.host} did not finish", cause=cause, remedy=remedy))


def not_an_answer(peer: Peer, description: str) -> Fault:
    """The fault of a reply that no server of this protocol would send."""
    error = ServerError(
        f"{peer.host} sent what is not an OpenAI-compatible answer",
        cause=peer.quote(description),
        remedy=f"Check {peer.knobs.url} (it usually ends in /v1).",
    )
    return Fault(error)
