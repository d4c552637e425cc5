"""What a request may hold, with bounds on all of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag.serving.faults import NotServed

MOST_MESSAGES, MOST_CHARS = 500, 200_000
MODEL = "askpapers"

Text = Annotated[str, Field(max_length=MOST_CHARS)]
Name = Annotated[str, Field(max_length=200)]


class Part(BaseModel):
    """A part of a message. Those without a text, such as pictures, are passed over."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": True})

    type: Name = "text"
    text: Text | None = None


class Message(BaseModel):
    """A message of a conversation, as chat programs keep them."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | Annotated[list[Part], Field(max_length=100)] | None = None


class StreamOptions(BaseModel):
    """What a stream tells beside the text."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A request for a chat completion.

    The last message of the user is the question, the messages before it are the conversation.
    System messages, and parameters that steer how a model writes, are taken and have no effect:
    what is written is checked against the papers whatever they say.
    """

    model_config = ConfigDict(extra="ignore")

    model: Name = MODEL
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(None, description="only 1 is served")
    tools: list[Any] | None = Field(None, max_length=1_000, description="must be empty")
    functions: list[Any] | None = Field(None, max_length=1_000, description="must be empty")
    logprobs: bool | None = Field(None, description="must not be true")
    response_format: dict[str, Any] | None = Field(None, description="only type text is served")

    def refuse_what_is_not_served(self) -> None:
        """Whoever asks for another form of answer could not read the one that comes.

        Raises:
            NotServed: it names the parameter.
        """
        wanted = {
            "n": self.n not in (None, 1),
            "tools": bool(self.tools),
            "functions": bool(self.functions),
            "logprobs": bool(self.logprobs),
            "response_format": (self.response_format or {}).get("type", "text") != "text",
        }
        for name, refused in wanted.items():
            if refused:
                raise NotServed(f"{name} is not served here", name, "Ask without it.")


class Spoken(BaseModel):
    """What was said before: a question or an answer."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    content: Text


class AskRequest(BaseModel):
    """A question, and what was said before it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "What does RN-DPO normalize?"}]},
    )

    question: Annotated[str, Field(min_length=1, max_length=MOST_CHARS)]
    conversation: Annotated[list[Spoken], Field(max_length=MOST_MESSAGES)] = []
    stream: bool = Field(False, description="whether the answer comes as server-sent events")
