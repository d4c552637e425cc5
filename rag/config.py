"""Settings: defaults, then the configuration file, then the environment, then flags.

The only module that reads the environment. A setting `chunk_sentences` is `chunk_sentences` in
`config.toml`, `RAG_CHUNK_SENTENCES` in the environment and a field here; the openai client's own
variables (`OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_MODEL`) are read under their usual names.
An unknown name is an error with the nearest known one, never ignored.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_config_path, user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
)

from rag.errors import ConfigError

APP = "askpapers"
PREFIX = "RAG_"
SERVED = "openai:"  # begins the name of an embedding model that a server has
OPENAI_VARIABLES = {
    "OPENAI_API_KEY": "openai_api_key",
    "OPENAI_BASE_URL": "openai_base_url",
    "OPENAI_MODEL": "openai_model",
}

USER_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
SHORTEST_PASSWORD, SHORTEST_TOKEN = 8, 20

EXPANSIONS = frozenset({"translate", "rewrite", "hypothesis", "decompose"})

_READING = frozenset(
    {
        *("max_file_mb", "max_record_chars", "max_records"),
        *("max_pages", "max_expansion", "max_pdf_seconds"),
    }
)

_MAY_BE_SECRET = frozenset(
    {
        *("openai_api_key", "openai_base_url", "embedding_api_key", "embedding_base_url"),
        *("vectors", "vectors_options", "password", "tokens"),
    }
)

_SHARING = frozenset(
    {
        *("host", "port", "host_names", "password", "tokens", "uploads", "max_upload_mb"),
        *("questions_per_minute", "questions_at_once", "answers_at_once", "most_waiting"),
        "shutdown_seconds",
    }
)

_WITHOUT_EFFECT = (
    _READING
    | _SHARING
    | {
        *("data_dir", "weights_dir", "prompts", "engine", "ray_address"),
        *("vectors", "vectors_options", "vectors_timeout"),
        *("openai_api_key", "embedding_api_key", "token_budget"),
        *("price_read", "price_written", "evaluate_shared"),
    }
)
"""Settings that cannot change an answer: places, secrets, budgets, limits of reading and asking."""

_ADDRESSES = frozenset({"openai_base_url", "embedding_base_url"})

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Share = Annotated[float, Field(ge=0, le=1)]


class Config(BaseModel):
    """Everything that can be set, with its default and its bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Field(
        default_factory=lambda: user_data_path(APP), description="catalog and index"
    )
    weights_dir: Path = Field(
        default_factory=lambda: user_cache_path(APP) / "weights", description="model weights"
    )

    embedding_model: str = Field(
        "all-minilm-l6-v2",
        description="of a new index: name in `rag models list`, or openai:NAME: a server, which is"
        " sent every text",
    )
    embedding_base_url: str | None = Field(
        None, description="server of openai:NAME; else openai_base_url"
    )
    embedding_api_key: SecretStr | None = Field(
        None, description="its key; openai_api_key goes to openai_base_url only"
    )
    embedding_chars: int = Field(
        2_000, ge=100, le=1_000_000, description="characters of one text that it is sent, at most"
    )
    chunk_sentences: int = Field(1, ge=1, le=50, description="sentences in a chunk, at most")
    chunk_word_pieces: int = Field(
        254, ge=16, le=254, description="word pieces in a chunk of several sentences, at most"
    )
    embed_titles: bool = Field(True, description="whether a paper's own title is embedded too")

    engine: Literal["local", "ray"] = Field(
        "local", description="who reads and embeds: this process, or a Ray cluster"
    )
    ray_address: str = Field(
        "", description="host:port of a Ray cluster, auto; empty: one is started on this machine"
    )

    max_file_mb: int = Field(
        2048, ge=1, le=1_000_000, description="megabytes read from one file, unpacked"
    )
    max_record_chars: int = Field(
        200_000, ge=100, le=100_000_000, description="characters of one title and abstract"
    )
    max_records: int = Field(
        5_000_000, ge=1, le=1_000_000_000, description="records read from one file"
    )
    max_pages: int = Field(2_000, ge=1, le=1_000_000, description="pages of one PDF")
    max_expansion: int = Field(
        200, ge=1, le=1_000_000, description="unpacked to packed bytes of an archive"
    )
    max_pdf_seconds: int = Field(60, ge=1, le=3_600, description="seconds for reading one PDF")

    vectors: str = Field(
        "local",
        description="local, URL of a Chroma server, or package.module:Class of llama-index",
    )
    vectors_options: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="a table: headers, tenant, database of a server, or arguments of the class",
    )
    vectors_timeout: Seconds = Field(
        10.0, description="seconds before a search goes on without its vector server"
    )

    llm: Literal["auto", "openai", "local", "none"] = Field(
        "auto", description="who writes answers; auto: a server, else local weights, else quoting"
    )
    openai_api_key: SecretStr | None = Field(None, description="also OPENAI_API_KEY")
    openai_base_url: str | None = Field(None, description="also OPENAI_BASE_URL")
    openai_model: str | None = Field(
        None, description="also OPENAI_MODEL; else asked of the server"
    )
    openai_output: Literal["auto", "schema", "text"] = Field(
        "auto", description="JSON schema, plain text protocol, or schema with text as fallback"
    )
    local_model: str = Field(
        "qwen2.5-coder-1.5b", description="name in `rag models list`, or a .gguf file"
    )
    local_context: int = Field(4096, ge=512, le=131_072, description="context window, tokens")
    local_threads: int = Field(0, ge=0, le=512, description="0: one per processor")

    connect_timeout: Seconds = Field(5.0, description="seconds to reach a server")
    idle_timeout: Seconds = Field(120.0, description="seconds without a byte from a server")
    answer_timeout: Seconds = Field(300.0, description="seconds for one answer, waits included")
    max_retries: int = Field(2, ge=0, le=10, description="repeats after a passing server fault")
    max_retry_wait: Seconds = Field(60.0, description="longest wait that a server may ask for")
    max_answer_tokens: int = Field(400, ge=16, le=32_768, description="tokens of one answer")
    token_budget: int = Field(
        0, ge=0, description="tokens that one run of the program may use; 0: no limit"
    )
    price_read: float | None = Field(
        None, ge=0, le=1e6, description="dollars for a million tokens that a server reads"
    )
    price_written: float | None = Field(
        None, ge=0, le=1e6, description="dollars for a million tokens that it writes"
    )

    expand: str = Field(
        "auto",
        description="how the writer helps to search: auto (translate), off, or some of translate, "
        "rewrite, hypothesis, decompose, separated by commas",
    )
    rerank: Literal["auto", "llm", "off"] = Field(
        "auto",
        description="who orders the first papers: llm: the writer; auto: a server, where the "
        "question's words do not",
    )
    ask_first: Literal["auto", "llm", "off"] = Field(
        "auto",
        description="whether the writer is first asked if the sentences answer: llm; auto: the "
        "embedded model",
    )
    max_wrong_rate: float = Field(
        0.10,
        ge=0.005,
        le=1,
        description="share of questions that may be answered though the collection does not hold "
        "the answer; 1: no bound. Not for a server that was not asked first",
    )
    help_seconds: Seconds = Field(5.0, description="seconds for each step of such help")

    repair: bool = Field(True, description="whether a refused claim is written anew, once")
    quotes_beside: int | None = Field(
        None,
        ge=0,
        le=3,
        description="sentences nearest to the question that are quoted behind a model's claims "
        "where no claim cites them; none given: 2 with the embedded model, 0 with a server",
    )
    smoothing: int = Field(
        0,
        ge=0,
        le=9,
        description="disturbed copies of a prompt that may hold instructions to the model, of whose"
        " replies the majority counts; each costs a reply; 0: off",
    )
    persona: str = Field(
        "",
        max_length=300,
        description="who the writing model speaks as, in a few words; changes its tone only",
    )
    prompts: Path | None = Field(
        None, description="folder of prompts that take the place of those of the same name"
    )

    max_question_chars: int = Field(8_000, ge=1, le=1_000_000, description="longest question")
    top_k: int = Field(10, ge=1, le=1_000, description="papers that a search returns")
    most_checked: int = Field(
        2_000, ge=1, le=100_000, description="papers that a list or count checks one by one"
    )
    most_listed: int = Field(100, ge=1, le=10_000, description="papers that a list names")
    weight_dense: Share = Field(0.20, description="share of a paper's own vector in its score")
    weight_lexical: Share = Field(0.50, description="share of BM25 in a paper's score")
    weight_sentence: Share = Field(0.15, description="share of the paper's best sentence")
    weight_aspect: Share = Field(
        0.15, description="share of its best sentences for each part of the question"
    )
    lexical_coverage: Share = Field(
        0.40, description="share of a question's weight that BM25 must meet to count in full"
    )
    evidence_papers: int = Field(6, ge=1, le=50, description="papers that an answer draws on")
    evidence_sentences: int = Field(
        0,
        ge=0,
        le=100,
        description="sentences that an answer draws on, at most; 0: 9 for the embedded model, "
        "else 12",
    )
    evidence_chars: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="characters of those sentences together, at most; 0: 1,400 for the embedded "
        "model, else 2,400",
    )

    evaluate_shared: bool = Field(
        False, description="whether those who read a shared page may run evaluations"
    )
    host: str = Field("127.0.0.1", description="address of the chat page and the API")
    port: int = Field(7860, ge=0, le=65_535, description="their port; 0: any free one")
    host_names: str = Field(
        "",
        description="further names by which browsers reach this machine, separated by commas",
    )
    password: SecretStr | None = Field(
        None, description="of the one user `owner`; `rag users add` gives others their own"
    )
    tokens: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="a table: user = token, by which programs log in (Authorization: Bearer)",
    )
    uploads: bool = Field(True, description="whether files can be added through the page")
    max_upload_mb: int = Field(
        200, ge=1, le=100_000, description="megabytes of the files of one upload, together"
    )
    questions_per_minute: int = Field(
        30, ge=0, le=100_000, description="of each user that logs in; 0: no limit"
    )
    questions_at_once: int = Field(
        4, ge=0, le=10_000, description="answers that one such user may wait for; 0: no limit"
    )
    answers_at_once: int = Field(
        0,
        ge=0,
        le=1_000,
        description="answers that are made at the same time, while others stand in line; 0: 2 by "
        "the embedded model, 8 by a server, 2 by quoting",
    )
    most_waiting: int = Field(
        64, ge=0, le=100_000, description="answers that stand in line, at most"
    )
    shutdown_seconds: float = Field(
        5.0, ge=0, le=3_600, description="seconds for answers in work when the server is ended"
    )

    @field_validator("openai_api_key", "embedding_api_key")
    @classmethod
    def _key_is_sendable(cls, key: SecretStr | None) -> SecretStr | None:
        text = key.get_secret_value() if key else ""
        if not text.isascii() or any(c.isspace() or not c.isprintable() for c in text):
            raise ValueError("contains whitespace or characters outside ASCII")
        return key if text else None

    @field_validator("openai_base_url")
    @classmethod
    def _url_is_plain(cls, url: str | None) -> str | None:
        return _checked_url(url, "OPENAI_API_KEY") if url else None

    @field_validator("expand")
    @classmethod
    def _steps_are_known(cls, expand: str) -> str:
        steps = [step.strip() for step in expand.split(",")]
        if expand not in {"auto", "off"} and not set(steps) <= EXPANSIONS:
            raise ValueError(f"must be auto, off, or some of {', '.join(sorted(EXPANSIONS))}")
        return ",".join(steps)

    @field_validator("embedding_base_url")
    @classmethod
    def _embedding_url_is_plain(cls, url: str | None) -> str | None:
        return _checked_url(url, "embedding_api_key") if url else None

    @field_validator("embedding_model")
    @classmethod
    def _served_model_is_named(cls, name: str) -> str:
        if name.startswith(SERVED) and not name.removeprefix(SERVED).strip():
            raise ValueError("names no model after openai:")
        return name

    @field_validator("vectors")
    @classmethod
    def _vectors_are_named(cls, vectors: str) -> str:
        if vectors.startswith(("http:", "https:")):
            return _checked_url(vectors, "headers in vectors_options")
        if vectors != "local" and not re.fullmatch(r"[\w.]+:[\w.]+", vectors):
            raise ValueError("must be local, a URL, or package.module:Class")
        return vectors

    @field_validator("vectors_options", mode="before")
    @classmethod
    def _options_are_a_table(cls, options: object) -> object:
        """The environment holds text: there it is JSON."""
        if not isinstance(options, str):
            return options
        try:
            return json.loads(options)
        except ValueError:
            raise ValueError("must be a JSON object") from None

    @field_serializer("openai_base_url", "embedding_base_url", "vectors")
    def _query_is_hidden(self, address: str | None) -> str | None:
        """What stands behind the question mark of an address may be a token."""
        shown, mark, _ = (address or "").partition("?")
        return f"{shown}?**********" if mark else address

    @field_serializer("vectors_options")
    def _options_are_hidden(self, options: dict[str, Any]) -> dict[str, str]:
        """Any of them may be a secret."""
        return dict.fromkeys(options, "**********")

    @field_validator("password")
    @classmethod
    def _password_is_long(cls, password: SecretStr | None) -> SecretStr | None:
        text = password.get_secret_value() if password else ""
        if text and len(text) < SHORTEST_PASSWORD:
            raise ValueError(f"must have {SHORTEST_PASSWORD} characters or more")
        return password if text else None

    @field_validator("tokens", mode="before")
    @classmethod
    def _tokens_are_a_table(cls, tokens: object) -> object:
        """The environment holds text: there it is JSON."""
        if not isinstance(tokens, str):
            return tokens
        try:
            return json.loads(tokens)
        except ValueError:
            raise ValueError("must be a JSON object") from None

    @field_validator("tokens")
    @classmethod
    def _tokens_are_sendable(cls, tokens: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, token in tokens.items():
            text = token.get_secret_value()
            if not re.fullmatch(USER_NAME, name):
                raise ValueError("must name users by letters, digits, dots, dashes and underscores")
            if len(text) < SHORTEST_TOKEN or not re.fullmatch(r"[!-~]+", text):
                raise ValueError(
                    f"must be {SHORTEST_TOKEN} characters or more, ASCII without spaces"
                )
        return tokens

    @field_validator("ray_address")
    @classmethod
    def _cluster_is_named(cls, address: str) -> str:
        if address and not re.fullmatch(r"auto|[\w.-]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5}", address):
            raise ValueError("must be host:port or auto, seen from a machine of the cluster")
        return address

    @field_validator("data_dir", "weights_dir")
    @classmethod
    def _path_is_absolute(cls, path: Path) -> Path:
        if not str(path).strip() or path == Path():
            raise ValueError("must not be empty")
        return path.expanduser().absolute()

    @field_validator("persona")
    @classmethod
    def _persona_is_a_line(cls, persona: str) -> str:
        if not persona.isprintable():
            raise ValueError("must be one line of text")
        return persona.strip()

    @field_validator("prompts")
    @classmethod
    def _prompts_are_there(cls, folder: Path | None) -> Path | None:
        if folder is not None and not folder.expanduser().is_dir():
            raise ValueError("must be a folder that is there")
        return folder and folder.expanduser().absolute()

    @field_validator("weight_aspect")
    @classmethod
    def _some_list_counts(cls, aspect: float, given: ValidationInfo) -> float:
        names = ("weight_dense", "weight_lexical", "weight_sentence")
        if not any((aspect, *(given.data.get(name, 1.0) for name in names))):
            raise ValueError(f"{', '.join(names)} and weight_aspect must not all be 0")
        return aspect

    @property
    def served_embedding(self) -> str:
        """What a server calls the embedding model; empty where this machine has it."""
        name = self.embedding_model
        return name.removeprefix(SERVED) if name.startswith(SERVED) else ""

    def fingerprint(self) -> str:
        """A hash of every setting that can change an answer.

        Not of places, secrets and budgets, nor of the limits of what is read: the index has a
        name of its own, and so has every prompt.
        """
        kept = self.model_dump(mode="json", exclude=set(_WITHOUT_EFFECT))
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]

    @classmethod
    def recordable(cls) -> frozenset[str]:
        """The settings that `changed` can tell."""
        return frozenset(cls.model_fields) - _WITHOUT_EFFECT - _ADDRESSES

    def changed(self) -> dict[str, Any]:
        """Those settings of the fingerprint that are not at their defaults.

        Addresses of servers are left out: they may hold secrets, and are another's elsewhere.
        """
        kept = self.model_dump(mode="json", include=set(self.recordable()))
        fields = type(self).model_fields
        return {name: value for name, value in kept.items() if value != fields[name].default}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force and, for each one that is not a default, where it came from."""

    config: Config
    origins: Mapping[str, str]


def default_config_file() -> Path:
    """Where `config.toml` is looked for when none is named."""
    return user_config_path(APP) / "config.toml"


def load(
    overrides: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Read the settings. A file that was named must exist; the default one may be absent.

    Raises:
        ConfigError: an unreadable file, an unknown name, a wrong type or range.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    named = file or (Path(environ["RAG_CONFIG"]) if environ.get("RAG_CONFIG") else None)
    layers = [
        _from_file(named or default_config_file(), required=named is not None),
        _from_environment(environ),
        {key: (value, "command line") for key, value in (overrides or {}).items()},
    ]
    for layer in layers:
        for key, (value, origin) in layer.items():
            values[key] = value
            origins[key] = origin
    try:
        return Loaded(Config.model_validate(values), origins)
    except ValidationError as error:
        raise _explained(error, values, origins) from None
    except (OSError, RuntimeError) as error:  # no home folder to put the defaults under
        raise ConfigError(
            "There is no place for the data", cause=str(error), remedy="Name one with --data-dir."
        ) from error


def _from_file(path: Path, *, required: bool) -> dict[str, tuple[object, str]]:
    if not required and not path.is_file():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The configuration file {path} cannot be read",
            cause=getattr(error, "strerror", None) or str(error),
            remedy="Name another with --config.",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML", cause=str(error)) from error
    for key in data:
        _refuse_unknown(key, str(path))
    return {key: (value, str(path)) for key, value in data.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    found: dict[str, tuple[object, str]] = {}
    for variable, key in OPENAI_VARIABLES.items():
        if environ.get(variable):
            found[key] = (environ[variable], variable)
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and variable != "RAG_CONFIG" and value:
            key = variable.removeprefix(PREFIX).lower()
            _refuse_unknown(key, f"the environment, as {variable}")
            found[key] = (value, variable)
    return found


def _refuse_unknown(key: str, where: str) -> None:
    if key in Config.model_fields:
        return
    near = difflib.get_close_matches(key, Config.model_fields, n=1)
    remedy = f"Did you mean {near[0]}?" if near else "`rag config` lists the settings."
    raise ConfigError(f"Unknown setting {key!r} in {where}", remedy=remedy)


def _explained(
    error: ValidationError, values: Mapping[str, object], origins: Mapping[str, str]
) -> ConfigError:
    """The first fault in one line; the value is shown unless it may hold a secret."""
    fault = error.errors()[0]
    key = str(fault["loc"][0])
    message = str(fault["msg"]).removeprefix("Value error, ")
    shown = "" if key in _MAY_BE_SECRET else f" = {values.get(key)!r}"
    origin = origins.get(key, "default")
    return ConfigError(f"Setting {key}{shown} from {origin} is refused", cause=message)


def _checked_url(url: str, secrets: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"has a bad host or port ({error})") from None
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must begin with http:// or https://")
    if not parts.hostname or port == 0:
        raise ValueError("names no host or no usable port")
    if parts.username or parts.password:
        raise ValueError(f"must not contain a user or password; use {secrets}")
    return url
