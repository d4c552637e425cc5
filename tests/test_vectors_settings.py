"""The settings that say where vectors are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.config import Config, load
from rag.errors import ConfigError

SECRET = "sk-canary-0123"


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("RAG_VECTORS", "chroma", "must be local, a URL, or package.module:Class"),
        ("RAG_VECTORS", "os.system", "must be local"),
        ("RAG_VECTORS", "ftp://host:1", "must be local"),
        ("RAG_VECTORS", "http://:8000", "names no host"),
        ("RAG_VECTORS", "http://host:99999", "port"),
        ("RAG_VECTORS", f"http://me:{SECRET}@host:8000", "headers in vectors_options"),
        ("RAG_VECTORS_OPTIONS", f"{{{SECRET}", "must be a JSON object"),
        ("RAG_VECTORS_OPTIONS", f'["{SECRET}"]', "dictionary"),
        ("RAG_VECTORS_TIMEOUT", "0", "greater than 0"),
    ],
)
def test_what_names_no_place_for_vectors_is_refused(
    tmp_path: Path, variable: str, value: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load(environ={variable: value, "HOME": str(tmp_path)})
    assert variable in str(caught.value)
    assert SECRET not in str(caught.value)


def test_options_are_a_table_in_a_file_and_json_in_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        'vectors = "https://vectors.example:8000"\n'
        f'[vectors_options]\nheaders = {{ Authorization = "{SECRET}" }}\n'
    )
    from_file = load(file=file, environ={}).config
    json_text = f'{{"headers": {{"Authorization": "{SECRET}"}}}}'
    from_environment = load(environ={"RAG_VECTORS_OPTIONS": json_text}).config
    assert from_file.vectors == "https://vectors.example:8000"
    for config in (from_file, from_environment):
        assert config.vectors_options == {"headers": {"Authorization": SECRET}}
        assert SECRET not in f"{config!r} {config.model_dump_json()}"
        assert config.model_dump(mode="json")["vectors_options"] == {"headers": "**********"}


def test_where_vectors_are_kept_changes_no_answer() -> None:
    one = Config.model_validate({})
    other = Config.model_validate({"vectors": "http://host:8000", "vectors_timeout": 3})
    assert one.fingerprint() == other.fingerprint()
