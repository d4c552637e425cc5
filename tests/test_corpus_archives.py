"""Archives, and the files of folders that are no files: what is taken, refused and shown."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import socket
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_index_disk import without_privileges

from rag.answering.parts import limits_of
from rag.config import Config
from rag.corpus import Limits, Refused, SourceFile, find_files, find_sources, read_papers
from rag.corpus.archives import MOST_MEMBERS
from rag.corpus.sources import label_of
from rag.errors import InputError

FIRST = "We show that stable names make stable links, for ever."
SECOND = "Another abstract follows here. It has two sentences in it."
MEMBERS = {
    "a.txt": FIRST.encode(),
    "inner/b.jsonl": b'{"abstract": "%s"}\n' % SECOND.encode(),
    "figure.png": b"\x89PNG",
    ".hidden.txt": FIRST.encode(),
    "__MACOSX/._a.txt": b"\0\5\x16\7",
    "inner/.git/c.txt": FIRST.encode(),
}

Found = list[SourceFile | Refused]


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(*entries: tarfile.TarInfo | tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:") as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                archive.addfile(info, io.BytesIO(entry[1]))
    return out.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def found_in(
    folder: Path, data: bytes, name: str = "export.zip", limits: Limits | None = None
) -> Found:
    path = folder / name
    path.write_bytes(data)
    return list(find_sources([path], limits or Limits()))


def taken(found: Found) -> dict[str, str]:
    """Label and first text of each source."""
    texts = {}
    for one in found:
        if isinstance(one, SourceFile):
            texts[one.label] = next(
                paper[1].text for paper in read_papers(one.content()) if isinstance(paper, tuple)
            )
    return texts


def refused(found: Found) -> dict[str, str]:
    return {one.label: one.reason for one in found if isinstance(one, Refused)}


PACKED: dict[str, Callable[[], bytes]] = {
    "export.zip": lambda: zipped(MEMBERS),
    "stored.zip": lambda: zipped(MEMBERS, zipfile.ZIP_STORED),
    "export.tar": lambda: tarred(*MEMBERS.items()),
    "export.tar.gz": lambda: gzip.compress(tarred(*MEMBERS.items())),
    "export.tgz": lambda: gzip.compress(tarred(*MEMBERS.items())),
    "export.tar.bz2": lambda: bz2.compress(tarred(*MEMBERS.items())),
    "export.tar.xz": lambda: lzma.compress(tarred(*MEMBERS.items())),
    "without-suffix": lambda: zipped(MEMBERS),
    "wrong-suffix.txt": lambda: gzip.compress(tarred(*MEMBERS.items())),
}


@pytest.mark.parametrize("name", PACKED)
def test_an_archive_is_read_like_a_folder(tmp_path: Path, name: str) -> None:
    found = found_in(tmp_path, PACKED[name](), name)
    assert taken(found) == {f"{name}/a.txt": FIRST, f"{name}/inner/b.jsonl": SECOND}
    assert refused(found) == {}
    assert [one.key for one in found] == [
        f"{tmp_path}/{name}/{m}" for m in ("a.txt", "inner/b.jsonl")
    ]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("p.txt.gz", gzip.compress), ("p.txt.bz2", bz2.compress), ("p.txt.xz", lzma.compress)],
)
def test_a_compressed_file_is_one_member(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    assert taken(found_in(tmp_path, pack(FIRST.encode()), name)) == {f"{name}/p.txt": FIRST}


def test_archives_in_a_folder_are_found_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zipped(MEMBERS))
    (tmp_path / "a.txt").write_text(SECOND)
    (tmp_path / "c.bin.gz").write_bytes(gzip.compress(b"\0\1"))
    (tmp_path / "figures.zip").write_bytes(zipped({"figure.png": b"\x89PNG"}))
    root = tmp_path.name
    assert [file.label for file in find_files([tmp_path])] == [
        f"{root}/a.txt",
        f"{root}/b.zip/a.txt",
        f"{root}/b.zip/inner/b.jsonl",
    ]
    assert refused(list(find_sources([tmp_path]))) == {}
    (only,) = find_sources([tmp_path / "figures.zip"])
    assert isinstance(only, Refused)
    assert "no member ending in" in only.reason


def test_members_can_be_read_again_and_out_of_order(tmp_path: Path) -> None:
    large = {f"{n}.txt": bytes([65 + n]) * 9_000_000 for n in range(4)}  # beyond what memory holds
    data = zipped(large, zipfile.ZIP_STORED)
    found = [one for one in found_in(tmp_path, data) if isinstance(one, SourceFile)]
    for number in (3, 0, 2, 1, 3):
        with found[number].content().open() as stream, found[0].content().open() as other:
            assert other.read(2) == b"AA"
            assert stream.read() == large[f"{number}.txt"]
            stream.seek(-1, os.SEEK_END)
            assert stream.read(2) == bytes([65 + number])


@pytest.mark.parametrize(
    "name",
    ["../../evil.txt", "/abs.txt", "a/../../b.txt", "..\\evil.txt", "C:\\evil.txt", "\\a.txt"],
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_I21_a_name_that_leads_out_of_the_archive_is_refused(
    tmp_path: Path, name: str, kind: str
) -> None:
    members = {name: b"x" * 50, "good.txt": FIRST.encode()}
    data = zipped(members) if kind == "zip" else tarred(*members.items())
    found = found_in(tmp_path, data, f"export.{kind}")
    assert taken(found) == {f"export.{kind}/good.txt": FIRST}
    assert list(refused(found).values()) == ["its name leads out of the archive"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"export.{kind}"]


def test_I21_links_devices_and_nested_archives_are_refused_by_name(tmp_path: Path) -> None:
    data = tarred(
        special("passwd.txt", tarfile.SYMTYPE, "/etc/passwd"),
        special("hard.txt", tarfile.LNKTYPE, "good.txt"),
        special("null", tarfile.CHRTYPE),
        special("pipe.txt", tarfile.FIFOTYPE),
        ("inner.zip", zipped(MEMBERS)),
        ("good.txt", FIRST.encode()),
        ("good.txt", SECOND.encode()),
    )
    found = found_in(tmp_path, data, "x.tar")
    assert taken(found) == {"x.tar/good.txt": FIRST}
    assert {label: reason.split(";")[0] for label, reason in refused(found).items()} == {
        "x.tar/passwd.txt": "it is a link",
        "x.tar/hard.txt": "it is a link",
        "x.tar/null": "it is a device or a pipe",
        "x.tar/pipe.txt": "it is a device or a pipe",
        "x.tar/inner.zip": "an archive inside an archive is not opened",
        "x.tar/good.txt": "the archive has the name twice",
    }


def test_I21_links_and_encrypted_members_of_a_zip_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("secret.txt", FIRST)
        archive.writestr("good.txt", FIRST)
    data = bytearray(out.getvalue())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # APPNOTE 4.3.7 and 4.3.12, bit 0
        place = data.index(mark, data.index(mark) + 1)
        data[place + flags] |= 1
    found = found_in(tmp_path, bytes(data))
    assert taken(found) == {"export.zip/good.txt": FIRST}
    assert refused(found) == {
        "export.zip/link.txt": "it is a link",
        "export.zip/secret.txt": "it is encrypted",
    }


def test_I21_a_wrong_checksum_costs_its_member_only(tmp_path: Path) -> None:
    data = bytearray(zipped({"bad.txt": FIRST.encode(), "good.txt": FIRST.encode()}, 0))
    data[data.index(b"stable")] ^= 1
    found = found_in(tmp_path, bytes(data))
    assert taken(found) == {"export.zip/good.txt": FIRST}
    assert "Bad CRC-32" in refused(found)["export.zip/bad.txt"]


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.txt.gz", "x.tar.xz"])
def test_I21_what_is_cut_off_is_told(tmp_path: Path, name: str) -> None:
    noise = os.urandom(40_000).hex().encode()
    members = {"a.txt": FIRST.encode(), "b.txt": noise, "c.txt": FIRST.encode()}
    whole = {
        "x.zip": lambda: zipped(members),
        "x.tar": lambda: tarred(*members.items()),
        "x.tar.gz": lambda: gzip.compress(tarred(*members.items())),
        "x.txt.gz": lambda: gzip.compress(noise),
        "x.tar.xz": lambda: lzma.compress(tarred(*members.items())),
    }[name]()
    found = found_in(tmp_path, whole[: len(whole) // 2], name)
    assert any("damaged or cut off" in reason for reason in refused(found).values())
    kept = {} if name in {"x.zip", "x.txt.gz"} else {f"{name}/a.txt": FIRST}
    assert taken(found) == kept


def test_I21_a_tar_without_its_end_is_told(tmp_path: Path) -> None:
    found = found_in(tmp_path, tarred(("a.txt", FIRST.encode()))[:1024], "x.tar")
    assert taken(found) == {"x.tar/a.txt": FIRST}
    assert "cut off" in refused(found)["x.tar"]


@pytest.mark.parametrize("name", PACKED)
@given(data=st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_I21_any_damage_ends_in_members_and_refusals(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    packed = bytearray(PACKED[name]())
    place = data.draw(st.integers(0, len(packed) - 1))
    packed[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    for one in found_in(tmp_path, bytes(packed), name):
        assert one.label.startswith(name)
        if isinstance(one, SourceFile):
            with one.content().open() as stream:
                assert len(stream.read()) == one.content().size
        else:
            assert one.reason
            assert "\n" not in one.reason


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.jsonl.gz", "x.tar.bz2"])
def test_a_file_that_only_has_the_suffix_of_an_archive_is_told(tmp_path: Path, name: str) -> None:
    (only,) = found_in(tmp_path, FIRST.encode(), name)
    assert isinstance(only, Refused)
    assert "damaged" in only.reason
    assert only.remedy


def test_I21_limits_are_named_and_other_members_survive(tmp_path: Path) -> None:
    members = {
        "bomb.txt": b"\0" * 3_000_000,
        "large.txt": os.urandom(1_100_000),
        "good.txt": FIRST.encode(),
    }
    found = found_in(tmp_path, zipped(members), limits=Limits(file_mb=1, expansion=100))
    assert taken(found) == {"export.zip/good.txt": FIRST}
    assert refused(found) == {
        "export.zip/bomb.txt": "more than max_file_mb = 1 when unpacked",
        "export.zip/large.txt": "more than max_file_mb = 1 when unpacked",
    }
    found = found_in(tmp_path, zipped(members), limits=Limits(expansion=100))
    assert "max_expansion = 100" in refused(found)["export.zip/bomb.txt"]


def test_I21_the_sum_of_the_members_is_held_against_the_limits(tmp_path: Path) -> None:
    noise = {f"{n}.txt": os.urandom(400_000).hex().encode()[:400_000] for n in range(4)}
    for name, data in (("x.zip", zipped(noise)), ("x.tar", tarred(*noise.items()))):
        found = found_in(tmp_path, data, name, Limits(file_mb=1))
        assert list(taken_labels(found)) == [f"{name}/0.txt", f"{name}/1.txt"]
        assert "max_file_mb = 1" in refused(found)[name]


def taken_labels(found: Found) -> Iterator[str]:
    return (one.label for one in found if isinstance(one, SourceFile))


def test_I21_a_zip_whose_members_share_their_bytes_is_refused(tmp_path: Path) -> None:
    """As in Fifield's bomb: every entry of the table of contents points at the same bytes."""
    data = zipped({"000.txt": (b"%d" % 7) * 250_000})
    end = data.index(b"PK\5\6")
    start = data.index(b"PK\1\2")
    entry = data[start:end]
    table = b"".join(entry.replace(b"000.txt", b"%03d.txt" % n) for n in range(200))
    tail = bytearray(data[end:])
    tail[8:12] = (200).to_bytes(2, "little") * 2
    tail[12:16] = len(table).to_bytes(4, "little")
    found = found_in(tmp_path, data[:start] + table + bytes(tail), limits=Limits(expansion=2000))
    assert sum(one.member.size for one in found if isinstance(one, SourceFile) and one.member) < 1e6
    assert refused(found)


def test_I21_too_many_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    header = tarfile.TarInfo("same.txt").tobuf(tarfile.USTAR_FORMAT)
    path.write_bytes(gzip.compress(header * (MOST_MEMBERS + 1) + b"\0" * 1024, 1))
    *_, last = find_sources([path], Limits(expansion=10_000))
    assert isinstance(last, Refused)
    assert f"more than {MOST_MEMBERS:,} members" in last.reason


MEASURED = """
import resource, sys
from pathlib import Path
from rag.corpus import Record, Refused, find_sources
from rag.corpus.files import digest
from rag.corpus.registry import format_of
from rag.errors import InputError
told, papers = [], 0
for one in find_sources([Path(sys.argv[1])]):
    if isinstance(one, Refused):
        told.append(one.reason)
        continue
    try:
        content = one.content()
        digest(content)
        papers += sum(isinstance(r, Record) for r in format_of(content).read(content))
    except InputError as error:
        told.append(str(error))
(peak,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(papers, int(peak.split()[1]) // 1024, *told)
"""


def measured(path: Path) -> tuple[int, int, str]:
    """Records, peak memory in MB, and what was told, of reading `path` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    papers, memory, *told = done.stdout.split()
    return int(papers), int(memory), " ".join(told)


def zeros(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"\0" * 1_000_000
    return b"".join([*(packer.compress(block) for _ in range(megabytes)), packer.flush()])


def long_name(megabytes: int) -> bytes:
    """A tar whose first header announces a file name of that length."""
    head = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    head.size = megabytes * 1_000_000
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = packer.compress(head.tobuf(tarfile.GNU_FORMAT))
    block = b"a" * 1_000_000
    return b"".join([first, *(packer.compress(block) for _ in range(megabytes)), packer.flush()])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.jsonl.gz", lambda: zeros(400)),
        ("x.zip", lambda: zipped({"a.txt": b"\0" * 300_000_000, "good.txt": FIRST.encode()})),
        ("x.tar.gz", lambda: long_name(400)),
        ("x.txt.xz", lambda: lzma.compress(b"\0" * 400_000_000, preset=0)),
    ],
)
def test_I21_memory_stays_small_whatever_a_bomb_holds(
    tmp_path: Path, name: str, data: Callable[[], bytes]
) -> None:
    path = tmp_path / name
    path.write_bytes(data())
    assert path.stat().st_size < 4_000_000
    papers, memory, told = measured(path)
    assert papers == (name == "x.zip")
    assert memory < 250
    assert "max_expansion = 200" in told or "a name or directory" in told


def test_I24_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    line = '{"abstract": "%s %d"}\n'
    path = tmp_path / "large.jsonl"
    with path.open("w") as file:
        for number in range(60_000):
            file.write(line % (FIRST * 19, number))
    assert path.stat().st_size > 60_000_000
    small = tmp_path / "small.jsonl"
    small.write_text(line % (FIRST, 0))
    (papers, large_mb, _), (_, small_mb, _) = measured(path), measured(small)
    assert papers == 60_000
    assert large_mb - small_mb < 30


@pytest.mark.timeout(60)
def test_I20_what_is_no_file_of_the_folder_is_skipped_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    (folder / "sub").mkdir(parents=True)
    (folder / "good.txt").write_text(FIRST)
    (folder / "passwd.txt").symlink_to("/etc/passwd")
    (folder / "zero.txt").symlink_to("/dev/zero")
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "sub" / "up").symlink_to("..")
    os.mkfifo(folder / "pipe.txt")
    os.mkfifo(folder / "pipe.zip")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(folder / "s.txt"))
        found = list(find_sources([folder]))
    assert taken(found) == {"f/good.txt": FIRST}
    told = refused(found)
    assert set(told) == {
        f"f/{name}"
        for name in (
            *("passwd.txt", "zero.txt", "gone.txt", "self.txt", "loop", "sub/up", "pipe.txt"),
            *("pipe.zip", "s.txt"),
        )
    }
    assert "out of the folder" in told["f/passwd.txt"]
    assert "out of the folder" in told["f/zero.txt"]
    assert "leads nowhere" in told["f/gone.txt"]
    assert told["f/pipe.txt"] == "it is a pipe"
    assert told["f/s.txt"] == "it is a socket"
    assert "not followed" in told["f/loop"]


FOUND = (
    "import sys; from pathlib import Path; from rag.corpus import Refused, find_sources\n"
    "for one in find_sources([Path(sys.argv[1])]):\n"
    "    print(one.label, one.reason if isinstance(one, Refused) else '', sep='|')"
)


def test_I20_an_unreadable_folder_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(FIRST)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    command = [*without_privileges(), sys.executable, "-c", FOUND, str(tmp_path)]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    finally:
        locked.chmod(0o700)
    assert sorted(found.splitlines()) == [
        f"{tmp_path.name}/good.txt|",
        f"{tmp_path.name}/locked|it cannot be read (Permission denied)",
    ]


def test_I27_names_are_shown_with_what_would_deceive_written_out(tmp_path: Path) -> None:
    names = [
        "new\nline.txt",
        "quo\"te'.txt",
        "rtl\u202etxt.exe.txt",
        "esc\x1b[31m.txt",
        "n" * 251 + ".txt",
    ]
    for name in names:
        (tmp_path / name).write_text(FIRST)
    raw = os.fsencode(tmp_path) + b"/latin-\xe9.txt"
    Path(os.fsdecode(raw)).write_text(FIRST)
    labels = {one.label.split("/", 1)[1] for one in find_files([tmp_path])}
    assert labels == {
        "new\\nline.txt",
        "quo\"te'.txt",
        "rtl\\u202etxt.exe.txt",
        "esc\\x1b[31m.txt",
        "n" * 251 + ".txt",
        "latin-\\xe9.txt",
    }
    inside = found_in(tmp_path, zipped({"in\u202e\n.txt": FIRST.encode()}))
    assert list(taken(inside)) == ["export.zip/in\\u202e\\n.txt"]
    assert label_of("Schrödinger 論文.txt") == "Schrödinger 論文.txt"


def test_a_missing_path_is_told_before_anything_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(FIRST)
    with pytest.raises(InputError, match=r"missing\.txt"):
        find_sources([tmp_path / "a.txt", tmp_path / "missing.txt"])


def test_no_space_to_unpack_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({"a.txt": os.urandom(20_000_000)}, 0))
    code = MEASURED.replace("told, papers = [], 0", "told, papers = [], 0\n" + LIMITED)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert "An archive cannot be unpacked (no space left in" in done.stderr


LIMITED = f"""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.RLIM_INFINITY}))
"""


def test_every_limit_is_a_setting_of_that_name_with_the_same_default(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path, weights_dir=tmp_path)
    assert limits_of(config) == Limits()
    other = config.model_copy(
        update={
            "max_file_mb": 1,
            "max_record_chars": 2,
            "max_records": 3,
            "max_pages": 4,
            "max_expansion": 5,
            "max_pdf_seconds": 6,
        }
    )
    assert limits_of(other) == Limits(1, 2, 3, 4, 5, 6)
