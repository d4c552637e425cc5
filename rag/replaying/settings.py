"""The settings of an answer of before, laid over those of the reader."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from rag.config import Config

_THE_READERS_OWN = frozenset(
    {
        *("embedding_model", "embedding_chars", "embed_titles"),  # those of the index
        *("chunk_sentences", "chunk_word_pieces"),
    }
)


def as_recorded(
    config: Config, changed: Mapping[str, Any] | None, kept: Collection[str] = ()
) -> tuple[Config, list[str]]:
    """Settings under which an answer can be made again, and what of the record was refused.

    `changed` are the settings that were not at their defaults; every other one that can change an
    answer goes back to its default. Where they were not recorded, the reader's stay. So do places,
    secrets, addresses, what belongs to the index, and the settings named in `kept`. A record may
    come from anybody: a path to weights is not followed.
    """
    if changed is None:
        return config, []
    left_alone = {*kept, *_THE_READERS_OWN}
    values: dict[str, Any] = {}
    refused = []
    for name in changed.keys() - left_alone:
        if reason := _refusal(name, changed[name], values):
            refused.append(f"setting {name}: {reason}")
        else:
            values[name] = changed[name]
    checked = Config.model_validate(values)
    names = [name for name in Config.recordable() if name not in left_alone]
    update = {name: getattr(checked, name) for name in names}
    return config.model_copy(update=update), sorted(refused)


def _refusal(name: str, value: object, values: Mapping[str, Any]) -> str:
    if name not in Config.recordable():
        return "it is not known here"
    if name == "local_model" and str(value).endswith(".gguf"):
        return "a path of another machine is not followed"
    try:
        Config.model_validate({**values, name: value})
    except ValidationError as error:
        return str(error.errors()[0]["msg"])
    return ""
