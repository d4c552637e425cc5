"""What reads bytes that others wrote, and what must hold whatever they are.

Each target takes any bytes and raises nothing. Hypothesis asks them with pieces of their own
format; `python tests/fuzzing.py NAME SECONDS [SEED]` lets atheris look for bytes that reach new
code. What it finds becomes a line of KNOWN in test_fuzzing.py.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

Target = Callable[[bytes], None]
SUFFIXES = (
    *(".txt", ".md", ".json", ".jsonl", ".csv", ".tsv", ".xml", ".bib", ".ris", ".nbib"),
    *(".gz", ".zip", ".tar", ".tgz"),
)


def file_of(suffix: str) -> Target:
    """Reads a file of that name: every record is a stretch of text or has a reason."""

    def read(data: bytes) -> None:
        from rag.corpus import Limits, Refused, Rejected, find_sources, read_papers
        from rag.errors import InputError

        limits = Limits()
        with tempfile.TemporaryDirectory(prefix="fuzzing-") as folder:
            path = Path(folder) / f"a{suffix}"
            path.write_bytes(data)
            for source in find_sources([path], limits):
                if isinstance(source, Refused):
                    assert source.reason
                    continue
                with suppress(InputError):
                    for piece in read_papers(source.content(limits)):
                        if isinstance(piece, Rejected):
                            assert piece.reason and "\n" not in piece.reason
                            continue
                        _, paper = piece
                        for one in paper.sentences:
                            assert paper.text[one.start : one.end] == one.text
                        paper.text.encode()

    return read


def reply(data: bytes) -> None:
    """The reader of a model's reply, given it in pieces: claims with words, none twice."""
    from rag.answering.replies import ReplyReader

    text = data.decode("utf-8", "replace")
    step = 1 + len(text) % 7
    reader = ReplyReader()
    drafts = [
        draft for at in range(0, len(text), step) for draft in reader.feed(text[at : at + step])
    ]
    assert all(draft.text.strip() for draft in [*drafts, *reader.finish()])


def marks(data: bytes) -> None:
    """The marks of an answer: numbers, none below 0, and not a million of them."""
    from rag.answering.citations import read_marks

    found = read_marks(data.decode("utf-8", "replace"))
    assert all(number >= 0 for group in found for number in group)
    assert sum(map(len, found)) <= 10_000


def shown(data: bytes) -> None:
    """A turn as the page shows it: whole, and without a tag or address that is not ours."""
    from test_display import read, turn_of

    from rag.page.answers import conversation
    from rag.page.shelf import sources

    turns = [turn_of(data.decode("utf-8", "replace"))]
    read(conversation(turns))
    read(sources(turns))


def terminal(data: bytes) -> None:
    """Text as a terminal is given it: nothing that it obeys."""
    from rag.text import printable

    text = printable(data.decode("utf-8", "replace"))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", text)


def stream(data: bytes) -> None:
    """The events of a server, however they are cut: text, or a fault with a name."""
    from rag.answering import wire

    collected = wire.Collected(1_000)
    step = 1 + len(data) % 13
    with suppress(wire.NotAnAnswer, wire.ErrorReply):
        for delta in wire.deltas(data[at : at + step] for at in range(0, len(data), step)):
            collected.take(delta)


def vectors(data: bytes) -> None:
    """The vectors of a server: finite numbers for each text, or a fault with a name."""
    import numpy as np

    from rag.answering.vectorreply import matrix
    from rag.answering.wire import ErrorReply, NotAnAnswer

    with suppress(NotAnAnswer, ErrorReply):
        found = matrix(data, 2)
        assert found.shape[0] == 2
        assert np.isfinite(found).all()


def verdict(data: bytes) -> None:
    """What a judge wrote: a label with a probability, or a doubt."""
    from evals.judging.reading import Unreadable, score
    from evals.judging.reading import verdict as read

    text = data.decode("utf-8", "replace")
    with suppress(Unreadable):
        read(text)
    with suppress(Unreadable):
        assert 0 <= score(text)[0] <= 10


def recorded(data: bytes) -> None:
    """A kept answer that is to be replayed."""
    from rag.errors import AskPapersError
    from rag.replaying.record import read_recorded

    with tempfile.NamedTemporaryFile(prefix="fuzzing-", suffix=".json") as file:
        Path(file.name).write_bytes(data)
        with suppress(AskPapersError):
            read_recorded(Path(file.name))


def question(data: bytes) -> None:
    """A question: understood or refused."""
    from rag.errors import UsageError
    from rag.retrieval.query import aspects, read_question

    with suppress(UsageError):
        asked = read_question(data.decode("utf-8", "replace"), max_chars=10_000)
        assert asked.text.strip()
        assert all(aspects(asked.text))


TARGETS: Mapping[str, Target] = {
    **{f"file{suffix}": file_of(suffix) for suffix in SUFFIXES},
    "reply": reply,
    "marks": marks,
    "shown": shown,
    "terminal": terminal,
    "stream": stream,
    "vectors": vectors,
    "verdict": verdict,
    "recorded": recorded,
    "question": question,
}
PIECES: tuple[bytes, ...] = (
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"\\", b"\\u", b"d83d", b"null"),
    *(b"data: ", b"data: [DONE]\n\n", b"event: error\n", b": keep\n\n", b'"choices"', b'"delta"'),
    *(b'"content"', b'"data"', b'"embedding"', b'"index"', b'"error"', b'"claims"', b'"text"'),
    *(b'"support"', b'"S1"', b'"label"', b'"score"', b"1e309", b"NaN", b"-0", b"9" * 30),
    *(b"S1: ", b"[1]", b"[1, 2-99]", b"[[2]]", b"(3)", b"$", b"$$", b"\\frac{", b"**", b"`", b"#"),
    *(b"<", b">", b"</", b"<!--", b"<script>", b"![x](http://e/)", b"&lt;", b"<![CDATA[", b"<?xml"),
    *(b"@article{k, abstract={", b"}}", b"TY  - JOUR\n", b"AB  - ", b"ER  - \n", b"PMID- 1\n"),
    *(b'"title"', b'"abstract"', b"title,abstract\n", b"title\tabstract\n", b"We study owls. "),
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"\x1b[31m",
        b"\x9b",
    ),
    *(
        b"<article>",
        b"<PubmedArticle>",
        b"<AbstractText>",
        b"---\n",
        b"\x1f\x8b\x08",
        b"PK\x03\x04",
    ),
)


def seeds(name: str) -> list[bytes]:
    """Something of its own kind for each target to begin with."""
    text = "We study owls in one case with care. The owls were measured twice."
    claims = json.dumps({"claims": [{"support": ["S1"], "text": text}]}).encode()
    record = json.dumps({"title": "Owls", "abstract": text, "year": 2020}).encode()
    made = {
        "reply": [claims, b"S1, S2: Owls nest. [1]", b"<think>x</think>" + claims],
        "marks": [b"Owls nest [1, 3-5]. [[2]] [1-99999999]"],
        "stream": [b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'],
        "vectors": [
            b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [0.5]}]}'
        ],
        "verdict": [b'{"label": "support", "confidence": 0.9}', b"label: neither\nconfidence: 0.1"],
        "file.jsonl": [record + b"\n" + record],
        "file.json": [b"[" + record + b"]"],
        "file.csv": [f'title,abstract\nOwls,"{text}"\n'.encode()],
        "file.bib": [f"@article{{k, title={{Owls}}, abstract={{{text}}}}}".encode()],
        "file.ris": [f"TY  - JOUR\nTI  - Owls\nAB  - {text}\nER  - \n".encode()],
        "file.xml": [f"<article><abstract>{text}</abstract></article>".encode()],
    }
    return made.get(name, [text.encode()])


def _entry(piece: bytes) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in piece) + '"\n'


def main(name: str, seconds: str, seed: str = "") -> None:
    """Look for bytes that break a target, for so long; the seed is told."""
    import atheris

    chosen = int(seed) if seed else random.SystemRandom().randrange(2**31)
    sys.stdout.write(f"{name}: seed {chosen}, {seconds} s\n")
    sys.stdout.flush()
    target = TARGETS[name]
    with atheris.instrument_imports(include=["rag", "evals"]):
        target(b"")
    with tempfile.TemporaryDirectory(prefix="fuzzing-corpus-") as folder:
        for number, one in enumerate([*seeds(name), b"".join(PIECES)]):
            (Path(folder) / str(number)).write_bytes(one)
        words = Path(folder) / "words.dict"
        words.write_text("".join(map(_entry, PIECES)))
        options = [
            f"-max_total_time={seconds}",
            f"-seed={chosen}",
            "-timeout=20",
            "-rss_limit_mb=0",
        ]
        atheris.Setup([sys.argv[0], folder, f"-dict={words}", "-max_len=4096", *options], target)
        atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:]:
        main(*sys.argv[1:])
    else:
        sys.stdout.write("\n".join(TARGETS) + "\n")
