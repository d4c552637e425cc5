"""What the tab of papers does: rows, removal with undo, export; uploads and who may send them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from command import SEEDS
from library import Library, abstract
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from rag.config import Config
from rag.errors import IndexLocked, PaperNotFound, UsageError
from rag.index.catalog import LOCK
from rag.index.lock import write_lock
from rag.index.table import Order
from rag.page.cards import report, table
from rag.page.collection import Collection, Wanted
from rag.page.gate import UploadGate
from rag.page.uploading import MOST_FILES, Uploaded, safe_name, take

RECORDS: Sequence[dict[str, object]] = (
    {"id": "a", "title": "Zebra patience", "authors": ["Ann Young"], "year": 2020, "venue": "Zoo"},
    {"id": "b", "title": "apples in May", "authors": ["Bo Adams"], "year": 2024},
    {"id": "c", "title": "Moss", "venue": "Acta"},
)


def lines(records: Sequence[dict[str, object]]) -> str:
    texts = (f"{abstract(str(one['title']))} It is about {one['title']}." for one in records)
    made = ({"abstract": text, **one} for text, one in zip(texts, records, strict=True))
    return "".join(json.dumps(one) + "\n" for one in made)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library(tmp_path)
    (made.papers / "papers.jsonl").write_text(lines(RECORDS))
    made.index()
    return made


@pytest.fixture
def collection(library: Library) -> Iterator[Collection]:
    made = Collection(Config.model_validate({"data_dir": library.data}))
    yield made
    made.close()


def titles(collection: Collection, wanted: Wanted = Wanted()) -> list[str]:  # noqa: B008
    return [row.title for row in collection.page(wanted, 0).rows]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("file", ["Zebra patience", "apples in May", "Moss"]),
        ("title", ["apples in May", "Moss", "Zebra patience"]),
        ("year", ["apples in May", "Zebra patience", "Moss"]),
        ("author", ["apples in May", "Zebra patience", "Moss"]),
        ("venue", ["Moss", "Zebra patience", "apples in May"]),
    ],
)
def test_rows_are_sorted_and_what_a_paper_lacks_comes_last(
    collection: Collection, order: Order, expected: list[str]
) -> None:
    assert titles(collection, Wanted(order=order)) == expected


def test_rows_are_filtered_as_the_command_does(collection: Collection) -> None:
    assert titles(collection, Wanted(year="2021-")) == ["apples in May"]
    assert titles(collection, Wanted(author="young")) == ["Zebra patience"]
    assert titles(collection, Wanted(text="moss")) == ["Moss"]
    assert titles(collection, Wanted(source="nothing")) == []
    with pytest.raises(UsageError, match="is not a span of years"):
        titles(collection, Wanted(year="soon"))


def test_a_page_beyond_the_last_is_the_last(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("many.txt", *(f"{abstract('apples')} Number {n}." for n in range(120)))
    library.index()
    many = Collection(Config.model_validate({"data_dir": library.data}))
    page = many.page(Wanted(), 100)
    assert (page.first, page.total) == (page.total // 50 * 50, len(library.stored()))
    assert many.page(Wanted(), 5_000) == page
    assert many.page(Wanted(), -3).first == 0
    many.close()


def test_what_was_removed_comes_back_as_it_was(library: Library, collection: Collection) -> None:
    before, near = library.stored(), library.nearest("apples")
    row = collection.page(Wanted(text="zebra"), 0).rows[0]
    assert collection.remove("ann", [row.paper_id]) == 1
    assert titles(collection) == ["apples in May", "Moss"]
    with pytest.raises(PaperNotFound, match="no longer in the collection"):
        collection.paper(row.paper_id)
    assert not collection.can_undo("bo")
    with pytest.raises(UsageError, match="no removal to undo"):
        collection.undo("bo")
    assert collection.undo("ann") == 1
    assert library.stored() == before
    assert library.nearest("apples") == near
    assert not collection.can_undo("ann")


def test_an_undo_that_another_writer_stops_can_be_tried_again(
    library: Library, collection: Collection
) -> None:
    collection.remove("ann", [collection.page(Wanted(), 0).rows[0].paper_id])
    with write_lock(library.data / LOCK), pytest.raises(IndexLocked):
        collection.undo("ann")
    assert collection.undo("ann") == 1


def test_an_undo_leaves_alone_what_came_in_the_meantime(
    library: Library, collection: Collection
) -> None:
    collection.remove("ann", [collection.page(Wanted(), 0).rows[0].paper_id])
    library.index()  # which brings it back
    assert collection.undo("ann") == 0
    assert sorted(titles(collection)) == ["Moss", "Zebra patience", "apples in May"]


def test_an_export_holds_the_chosen_papers_or_those_of_the_filter(collection: Collection) -> None:
    rows = collection.page(Wanted(), 0).rows
    chosen = collection.export([rows[2].paper_id, "gone"], Wanted(), "bibtex")
    assert ("Moss" in chosen, "Zebra" in chosen) == (True, False)
    assert "Zebra" in collection.export([], Wanted(venue="zoo"), "ris")


def test_titles_are_text_in_the_table(tmp_path: Path) -> None:
    library = Library(tmp_path)
    hostile: list[dict[str, object]] = [
        {"id": "x", "title": '<img src=x onerror="a"> <script>', "authors": ["<b>Bo</b>"]}
    ]
    (library.papers / "x.jsonl").write_text(lines(hostile))
    library.index()
    made = Collection(Config.model_validate({"data_dir": library.data}))
    shown = table(made.page(Wanted(), 0))
    made.close()
    assert "<img" not in shown
    assert "<script" not in shown
    assert "<b>" not in shown


# --- Uploads -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uploads(seeds_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Settings of an empty data folder, with the real model."""
    return seeds_config.model_copy(update={"data_dir": tmp_path_factory.mktemp("uploads") / "d"})


def send(config: Config, folder: Path, owner: str = "ann", **files: bytes) -> Uploaded:
    """Upload files by name; two underscores in a name are a dot."""
    given = []
    for name, content in files.items():
        place = folder / f"sent-{name}"
        place.write_bytes(content)
        given.append((name.replace("__", "."), place))
    return take(config, owner, given, lambda *_: None)


def kept(config: Config) -> list[str]:
    return sorted(path.name for path in (config.data_dir / "uploads").rglob("*") if path.is_file())


def test_an_upload_is_indexed_kept_and_reported(uploads: Config, tmp_path: Path) -> None:
    good = lines(RECORDS).encode() + b"[1]\n"
    done = send(uploads, tmp_path, papers__jsonl=good, empty__txt=b"", tool__exe=b"MZ")
    assert done.report is not None
    assert (done.files, done.report.added) == (3, 3)
    told = {(one.source, one.line): one for one in done.failures}
    assert set(told) == {("papers.jsonl", 4), ("empty.txt", None), ("tool.exe", None)}
    assert all(one.reason and one.remedy for one in done.failures)
    assert kept(uploads) == ["papers.jsonl"]
    shown = report(done)
    assert "papers.jsonl:4, record 4" in shown
    assert "3 added, 0 updated, 0 duplicates" in shown

    again = send(uploads, tmp_path, papers__jsonl=good)
    assert again.report is not None
    assert (again.report.added, again.report.total.papers) == (0, 3)

    other = lines([{"id": "d", "title": "Owls at night"}]).encode()
    more = send(uploads, tmp_path, "bo", papers__jsonl=other)  # of the same name: nothing leaves
    assert more.report is not None
    assert (more.report.added, more.report.removed, more.report.total.papers) == (1, 0, 4)


def test_indexing_a_folder_around_the_data_leaves_uploads_alone(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.data = tmp_path / ".hidden" / "data"
    library.write("a.txt", abstract("apples"))
    upload = library.data / "uploads" / "who" / "b.txt"
    upload.parent.mkdir(parents=True)
    upload.write_text(abstract("bread"))
    library.index(upload)
    report = library.index(tmp_path)
    assert (report.added, report.removed, report.total.papers) == (1, 0, 2)
    upload.unlink()
    (upload.parent / "c.txt").write_text(abstract("cars"))
    report = library.index(library.data / "uploads")
    assert (report.added, report.removed) == (1, 1)


def archive_of(names: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_archives_are_held_against_the_limits(uploads: Config, tmp_path: Path) -> None:
    members = {"ok.txt": abstract("dogs").encode(), "../../out.txt": b"out " * 50}
    done = send(uploads, tmp_path, some__zip=archive_of(members))
    assert ["its name leads out" in one.reason for one in done.failures] == [True]
    bomb = send(uploads, tmp_path, bomb__zip=archive_of({"a.txt": b"0" * 30_000_000}))
    assert bomb.failures
    assert not [name for name in kept(uploads) if name == "bomb.zip"]
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        archive.add(SEEDS / sorted(path.name for path in SEEDS.iterdir())[0], "../up.txt")
    tar = send(uploads, tmp_path, t__tar=(tmp_path / "t.tar").read_bytes())
    assert ["its name leads out" in one.reason for one in tar.failures] == [True]


def test_another_writer_is_told_and_nothing_is_kept(uploads: Config, tmp_path: Path) -> None:
    before = kept(uploads)
    uploads.data_dir.mkdir(exist_ok=True)
    with write_lock(uploads.data_dir / LOCK), pytest.raises(IndexLocked, match="is being written"):
        send(uploads, tmp_path, new__txt=abstract("eels").encode())
    assert kept(uploads) == before


def test_too_many_files_and_uploads_that_are_switched_off(uploads: Config, tmp_path: Path) -> None:
    many = [(f"{number}.txt", tmp_path) for number in range(MOST_FILES + 1)]
    with pytest.raises(UsageError, match="501 files are too many at once"):
        take(uploads, "ann", many, lambda *_: None)
    off = uploads.model_copy(update={"uploads": False})
    with pytest.raises(UsageError, match="Files are not taken here"):
        take(off, "ann", [], lambda *_: None)


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\papers\\a.bib", "a.bib"),
        ("a\u202etxt.exe\n.bib", "a_txt.exe_.bib"),
        ("..", "file"),
        ("." + "x" * 300 + ".ris", "x" * 120 + ".ris"),
        ("論文.ris", "論文.ris"),
    ],
)
def test_names_stay_in_their_folder(given: str, safe: str) -> None:
    assert safe_name(given) == safe


async def _length(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


def gate(most: int) -> TestClient:
    routes = [
        Route("/", lambda _: PlainTextResponse("page")),
        Route("/gradio_api/upload", _length, methods=["POST"]),
    ]
    return TestClient(UploadGate(Starlette(routes=routes), most), raise_server_exceptions=True)


def test_only_a_browser_that_opened_the_page_may_send_files_and_not_too_many() -> None:
    client = gate(100)
    assert client.post("/gradio_api/upload", content=b"x").status_code == 403
    wrong = {"cookie": "askpapers_page=other"}
    assert client.post("/gradio_api/upload", headers=wrong).status_code == 403
    cookie = client.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    client.cookies.set("askpapers_page", cookie.split("=", 1)[1].split(";")[0])
    assert client.post("/gradio_api/upload", content=b"x" * 100).text == "100"
    large = client.post("/gradio_api/upload", content=b"x" * 101)
    assert (large.status_code, "are not taken at once" in large.text) == (413, True)
    unknown = client.post("/gradio_api/upload", content=iter([b"x" * 50]))
    assert unknown.status_code == 411
    assert client.post("/process_recording", content=b"x").status_code == 404


def test_nothing_is_taken_where_uploads_are_off() -> None:
    client = gate(0)
    client.get("/")
    assert client.post("/gradio_api/upload", content=b"x").status_code == 404
