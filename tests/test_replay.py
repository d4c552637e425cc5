"""`rag replay`: an answer of before against the papers, prompts and settings of now."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, environment, rag
from fakes import HandEmbedder, Reply, ScriptedServer, streamed
from hypothesis import given
from hypothesis import strategies as st
from library import WEIGHTS, Library
from test_docs import environment as docs_environment

from rag import jsonform
from rag.answering.assistant import Assistant, last_answer
from rag.answering.finding import Finder
from rag.answering.parts import writer_of
from rag.answering.writing import QuotingWriter, Writer
from rag.config import Config
from rag.errors import InputError
from rag.replaying.comparing import causes
from rag.replaying.record import Recorded, read_recorded
from rag.replaying.replay import Replayed, replay
from rag.replaying.settings import as_recorded
from rag.retrieval.search import Searcher

FACT = "Apples weigh 150 grams on average."
APPLES = f"We study apples in cold stores. {FACT} Apples do not ripen in darkness."
BRIDGES = "We study bridges over wide rivers. Bridges carry 40 tons in winter."
CLOUDS = "We study clouds in spring. Clouds carry rain to the hills."
QUESTION = "How much do apples weigh?"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    library.write("a.txt", APPLES)
    library.write("b.txt", BRIDGES)
    library.index()
    return library


@contextmanager
def assisting(
    library: Library, writer: Writer | None = None, **settings: object
) -> Iterator[Assistant]:
    config = Config.model_validate(
        {"embedding_model": "by hand", "quotes_beside": 0, "max_retries": 0, **settings}
    )
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        with Assistant(config, reader, finder, writer or QuotingWriter()) as assistant:
            yield assistant


def kept(answer: dict[str, Any]) -> Recorded:
    return Recorded.model_validate_json(json.dumps(answer))


def asked(library: Library, **settings: object) -> Recorded:
    with assisting(library, None, **settings) as assistant:
        return kept(jsonform.answer(assistant.answer(QUESTION)))


def replayed(library: Library, recorded: Recorded, *, run: bool = True) -> Replayed:
    with assisting(library) as assistant:
        return replay(assistant, recorded, run=run)


def states(result: Replayed) -> dict[str, str]:
    return {check.text: check.state for check in result.sentences}


# --- The citations


def test_an_answer_over_the_same_index_is_the_same(library: Library) -> None:
    result = replayed(library, asked(library))
    assert set(states(result).values()) == {"unchanged"}
    assert {(claim.before, claim.now) for claim in result.claims} == {("supported", "supported")}
    assert (result.same, result.causes, result.differences, result.why) == (True, (), (), ())


def test_a_paper_that_came_later_makes_another_index_but_no_other_answer(library: Library) -> None:
    recorded = asked(library)
    library.write("c.txt", CLOUDS)
    library.index()
    result = replayed(library, recorded)
    assert result.same
    assert [cause.what for cause in result.causes] == ["index"]
    assert "found: 0 left, 1 came" in [difference.told for difference in result.differences]


@pytest.mark.parametrize(
    ("files", "state"),
    [
        ({"a.txt": f"Some say otherwise. {APPLES}"}, "moved"),
        ({"a.txt": APPLES.replace("150", "170")}, "changed"),
        ({"a.txt": BRIDGES}, "gone"),
        ({"a.txt": CLOUDS, "c.txt": f"We weigh apples. {FACT}"}, "elsewhere"),
    ],
)
@pytest.mark.case("R10")
def test_a_cited_sentence_is_looked_for(
    library: Library, files: dict[str, str], state: str
) -> None:
    recorded = asked(library)
    for name, text in files.items():
        library.write(name, text)
    library.index()
    result = replayed(library, recorded, run=False)
    assert states(result)[FACT] == state
    assert not result.same
    (check,) = [check for check in result.sentences if check.text == FACT]
    (claim,) = [claim for claim in result.claims if claim.text == FACT]
    if state in {"moved", "elsewhere"}:
        assert check.paper is not None
        assert check.paper.text[check.start :].startswith(FACT)
        assert claim.now == "supported"
    else:
        assert check.paper is None
        assert (claim.now, claim.reason) == ("unsupported", "its sentences are not there")


def test_a_claim_that_its_sentence_does_not_say_is_found_out(library: Library) -> None:
    recorded = asked(library).model_dump(mode="json")
    (claim,) = [claim for claim in recorded["claims"] if claim["text"] == FACT]
    claim["text"] = "Apples weigh 170 grams on average."
    result = replayed(library, kept(recorded), run=False)
    (check,) = [check for check in result.claims if "170" in check.text]
    assert (check.before, check.now) == ("supported", "unsupported")
    assert "170" in check.reason


def test_a_claim_that_names_a_sentence_nobody_cited_is_unsupported(library: Library) -> None:
    recorded = asked(library).model_dump(mode="json")
    recorded["claims"][0]["support"] = [{"number": 9, "start": 0, "end": 5}]
    result = replayed(library, kept(recorded), run=False)
    assert result.claims[0].now == "unsupported"


# --- Made again, and why it differs


def reply(text: str) -> Reply:
    claims = {"claims": [{"support": ["S2"], "text": text}]}
    return streamed([json.dumps(claims)])


@contextmanager
def served(library: Library, *scripts: Reply, **settings: object) -> Iterator[Assistant]:
    with ScriptedServer(*scripts) as server:
        given = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m", **settings}
        config = Config.model_validate(
            {"embedding_model": "by hand", "quotes_beside": 0, "max_retries": 0, **given}
        )
        with assisting(library, writer_of(config), **given) as assistant:
            yield assistant


def test_a_model_that_writes_otherwise_by_itself_is_named_as_the_reason(library: Library) -> None:
    other = "On average apples weigh 150 grams."
    with served(library, reply(FACT), reply(other)) as assistant:
        recorded = kept(jsonform.answer(assistant.answer(QUESTION)))
        result = replay(assistant, recorded)
    assert not result.same
    assert [(one.what, one.now) for one in result.differences] == [
        ("text", "On average apples weigh 150 grams [1].")
    ]
    assert result.why == ("nothing that was recorded differs: the model itself wrote otherwise",)


def test_another_prompt_another_writer_and_another_setting_are_named(
    library: Library, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = (ROOT / "prompts/answer.md").read_text()
    (own / "answer.md").write_text(text.replace("research", "scholarly"))
    with served(library, reply(FACT)) as assistant:
        recorded = kept(jsonform.answer(assistant.answer(QUESTION)))
    said = reply("On average apples weigh 150 grams.")
    with served(library, said, prompts=own, evidence_papers=2) as assistant:
        result = replay(assistant, recorded)
    named = {cause.what for cause in result.causes}
    assert {"prompt", "setting evidence_papers"} <= named
    quoting = replayed(library, recorded)
    assert "writer: m at 127.0.0.1" in " ".join(quoting.why)
    assert "→ quoting" in " ".join(quoting.why)


def test_the_search_explains_nothing_where_the_same_sentences_were_given(library: Library) -> None:
    with served(library, reply(FACT)) as assistant:
        recorded = kept(jsonform.answer(assistant.answer(QUESTION)))
    library.write("c.txt", CLOUDS)
    library.index()
    (library.papers / "c.txt").unlink()
    library.index()
    with served(library, reply("On average apples weigh 150 grams.")) as assistant:
        result = replay(assistant, recorded)
    assert "index" in {cause.what for cause in result.causes}
    assert not any(reason.startswith("index") for reason in result.why)


def test_a_summary_is_made_again(library: Library) -> None:
    with assisting(library) as assistant:
        recorded = kept(jsonform.answer(last_answer(assistant.summarize("a.txt:1"))))
        assert replay(assistant, recorded).same
    library.write("a.txt", CLOUDS)
    library.index()
    result = replayed(library, recorded)
    assert result.answer is None
    assert result.not_run
    assert not result.same


def test_an_answer_of_an_unknown_command_is_checked_and_not_made_again(library: Library) -> None:
    recorded = asked(library).model_dump(mode="json")
    recorded["manifest"]["command"] = "divine"
    result = replayed(library, kept(recorded))
    assert set(states(result).values()) == {"unchanged"}
    assert "rag divine" in result.not_run
    assert result.same


@pytest.mark.parametrize("command", ["list", "survey"])
def test_a_list_and_a_survey_are_made_again(library: Library, command: str) -> None:
    with assisting(library) as assistant:
        made = {"list": assistant.list_papers, "survey": assistant.survey}[command]
        recorded = kept(jsonform.answer(last_answer(made("apples"))))
        result = replay(assistant, recorded)
    assert (recorded.command, result.not_run, result.same) == (command, "", True)


def test_a_comparison_is_made_again(library: Library) -> None:
    with assisting(library) as assistant:
        made = last_answer(assistant.tables.compare(["a.txt:1", "b.txt:1"], "subject, result"))
        recorded = kept(jsonform.answer(made))
        result = replay(assistant, recorded)
    assert (recorded.command, result.not_run) == ("compare", "")
    assert result.same
    assert result.answer is not None
    assert result.answer.table == made.table


def test_an_index_of_the_same_name_with_other_papers_is_told(tmp_path: Path) -> None:
    one, other = Library(tmp_path / "one"), Library(tmp_path / "other", HandEmbedder())
    one.write("a.txt", APPLES)
    other.write("a.txt", f"Apples are fruits. {APPLES}")
    one.index()
    other.index()
    result = replayed(other, asked(one))
    assert result.why == (
        "nothing that was recorded differs: the index is called the same and holds other papers",
    )


# --- Settings


def test_recorded_settings_are_used_and_the_readers_own_places_and_secrets_stay(
    tmp_path: Path,
) -> None:
    present = Config.model_validate(
        {"data_dir": tmp_path, "openai_api_key": "sk-1", "top_k": 3, "help_seconds": 1.0}
    )
    config, refused = as_recorded(present, {"evidence_papers": 4, "llm": "none", "top_k": 7})
    assert refused == []
    assert (config.evidence_papers, config.llm, config.top_k) == (4, "none", 7)
    assert config.help_seconds == Config().help_seconds
    assert config.data_dir == tmp_path
    assert config.openai_api_key == present.openai_api_key


def test_a_flag_of_the_reader_goes_before_the_record() -> None:
    present = Config.model_validate({"llm": "none"})
    assert as_recorded(present, {"llm": "openai"}, {"llm"})[0].llm == "none"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("evidence_papers", 0),
        ("evidence_papers", "many"),
        ("vectors", "os:system"),
        ("data_dir", "/etc"),
        ("prompts", "/etc"),
        ("openai_base_url", "http://elsewhere.example/v1"),
        ("openai_api_key", "sk-1"),
        ("local_model", "/tmp/other.gguf"),
        ("no_such_setting", 1),
        ("persona", {"a": 1}),
    ],
)
def test_what_a_record_may_not_set_is_refused_by_name(name: str, value: object) -> None:
    config, refused = as_recorded(Config(), {name: value, "evidence_papers": 4} | {name: value})
    assert [line.startswith(f"setting {name}: ") for line in refused] == [True]
    assert getattr(config, name, None) == getattr(Config(), name, None)


def test_weights_that_are_all_zero_together_are_refused() -> None:
    zero = dict.fromkeys(
        ("weight_dense", "weight_lexical", "weight_sentence", "weight_aspect"), 0.0
    )
    config, refused = as_recorded(Config(), zero)
    assert len(refused) == 1
    assert config.weight_dense + config.weight_aspect + config.weight_lexical >= 0


def test_the_manifest_tells_changed_settings_and_no_secret_and_no_address() -> None:
    config = Config.model_validate(
        {
            "openai_api_key": "sk-canary",
            "openai_base_url": "http://canary.example/v1?key=canary",
            "data_dir": "/canary",
            "top_k": 7,
        }
    )
    assert config.changed() == {"top_k": 7}
    assert Config().changed() == {}


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 1_000),
        "evidence_papers": st.integers(1, 50),
        "expand": st.sampled_from(["auto", "off", "rewrite"]),
        "weight_dense": st.floats(0, 1),
        "persona": st.sampled_from(["", "a pirate"]),
    },
)


@given(CHANGES, CHANGES)
def test_any_settings_come_back_as_they_were_recorded(
    recorded: dict[str, Any], present: dict[str, Any]
) -> None:
    former = Config.model_validate(recorded)
    config, refused = as_recorded(Config.model_validate(present), former.changed())
    assert refused == []
    assert config.fingerprint() == former.fingerprint()
    made = {"settings": former.fingerprint(), "changed": former.changed()}
    assert causes(made, {"settings": config.fingerprint(), "changed": config.changed()}) == []


# --- Files


ANSWER = {
    "question": "q",
    "status": "abstained",
    "text": "t",
    "claims": [],
    "citations": [],
    "manifest": {},
}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "not an answer"),
        ("7", "not an answer"),
        ('{"question": "q"}', "status: Field required"),
        (json.dumps(ANSWER | {"claims": [{"text": 1}]}), "claims.0.text"),
        (json.dumps(ANSWER | {"status": "sure"}), "status"),
        (
            json.dumps(
                ANSWER
                | {"citations": [{"number": 1, "paper_id": "p", "title": "", "sentences": [{}]}]}
            ),
            "citations.0.sentences.0.text",
        ),
        ('{"id": "q2", "question": "", "error": "It is empty.", "exit_code": 2}', "failed"),
        (f"{json.dumps(ANSWER)}\n{{oops\n", "line 2, is not JSON"),
        (f"{json.dumps(ANSWER)}\n{json.dumps(ANSWER)}\n", "holds 2 answers"),
        (json.dumps(ANSWER | {"question": "\ud800"}), "not an answer"),
    ],
)
def test_what_holds_no_answer_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "answer.json"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(told)) as raised:
        read_recorded(path)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)


def test_bytes_and_folders_are_no_answers(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "answer.json", tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError):
            read_recorded(path)


def test_a_line_of_a_batch_and_a_sample_of_an_evaluation_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = [
        {"id": "a", **ANSWER},
        {"id": "b", **ANSWER, "question": "r"},
        {"item": "c", "question": "s", "answer": {**ANSWER, "question": "s"}},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert [read_recorded(path, name).question for name in "abc"] == ["q", "r", "s"]
    with pytest.raises(InputError, match="a, b, c"):
        read_recorded(path, "d")


# --- The command line


def test_the_command_line_end_to_end(seeds_index: Path, tmp_path: Path) -> None:
    kept_as = tmp_path / "answer.json"
    asked = rag(
        *("ask", "What does RepoScope model jointly?", "--llm", "none", "--json"), data=seeds_index
    )
    kept_as.write_text(asked.out)
    ran = rag("replay", kept_as, data=seeds_index)
    assert (ran.code, ran.err) == (0, "")
    assert "3 unchanged" in ran.out and "the same" in ran.out
    changed = json.loads(asked.out)
    changed["citations"][0]["sentences"][0]["text"] = "RepoScope models nothing."
    kept_as.write_text(json.dumps(changed))
    ran = rag("replay", kept_as, "--no-run", data=seeds_index)
    assert ran.code == 1
    assert "RepoScope: changed" in ran.out
    kept_as.write_text("no answer")
    ran = rag("replay", kept_as, data=seeds_index)
    assert ran.code == 2
    assert str(kept_as) in ran.error_line


def test_markup_in_a_kept_answer_is_shown_as_it_is(seeds_index: Path, tmp_path: Path) -> None:
    kept_as = tmp_path / "answer.json"
    kept_as.write_text(json.dumps(ANSWER | {"question": "[red]\x1b[31m[/] <b>"}))
    ran = rag("replay", kept_as, "--no-run", data=seeds_index)
    assert "[red]" in ran.out
    assert "\x1b" not in ran.out


DOCS = (ROOT / "docs/replay.md").read_text(encoding="utf-8")


def test_the_commands_of_the_document_print_what_it_shows(
    tmp_path: Path, seeds_config: Config
) -> None:
    (tmp_path / "seeds").symlink_to(ROOT / "seeds")
    environ = docs_environment(seeds_config) | {"RAG_DATA_DIR": str(tmp_path / "data")}
    environ |= {"HOME": str(tmp_path), "COLUMNS": environment()["COLUMNS"]}
    for block in re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL):
        for command, output in re.findall(r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", block, re.M | re.S):
            done = subprocess.run(
                command, shell=True, env=environ, capture_output=True, text=True, cwd=tmp_path
            )
            if output.strip():
                assert (done.stdout.strip(), done.returncode) == (output.strip(), 0), done.stderr
