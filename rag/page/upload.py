"""Adding files: chosen or dropped, indexed with progress, and a report of every record.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from rag.corpus.registry import suffixes
from rag.errors import AskPapersError
from rag.page import cards
from rag.page.papers import Shelf
from rag.page.parts import HIDDEN
from rag.page.readers import owner
from rag.page.setting import Setting
from rag.page.uploading import take

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz")


@dataclass(frozen=True, slots=True)
class Adding:
    """The parts that take files."""

    files: gr.File
    add: gr.Button
    told: gr.HTML


def build(setting: Setting) -> Adding | None:
    """Where files are chosen; nothing where that is switched off."""
    if not setting.config.uploads:
        return None
    with gr.Accordion("Add papers", open=False, elem_id="adding"):
        most = setting.config.max_upload_mb
        gr.HTML(
            f"<p>BibTeX, RIS, PubMed, arXiv, JSON, CSV, Markdown, text or PDF, or an archive of"
            f" them; {most:,} MB at once.</p>",
            padding=False,
        )
        files = gr.File(
            file_count="multiple",
            file_types=[*sorted(suffixes()), *ARCHIVES],
            type="filepath",
            label="Files",
            height=140,
        )
        add = gr.Button("Index them", variant="primary", size="sm")
        told = gr.HTML(padding=False, elem_id="report")
    return Adding(files, add, told)


def wire(setting: Setting, adding: Adding | None, shelf: Shelf) -> None:
    """Have chosen files be indexed, and the table be filled anew."""
    if adding is None:
        return

    def index(sent: Any, request: gr.Request, progress: gr.Progress = gr.Progress()) -> list[Any]:  # noqa: B008
        places = [Path(str(one)) for one in sent or ()]
        if not places:
            return [gr.skip(), cards.note("Choose files first.")]

        def hear(what: str, done: int, total: int) -> None:
            progress((done, total or None), desc=what, unit="papers")

        try:
            given = [(place.name, place) for place in places]
            text = cards.report(take(setting.config, owner(request), given, hear))
        except AskPapersError as error:
            text = cards.failed(error)
        finally:
            _clear(places)
        return [None, text]

    parts = [adding.files, adding.told]
    shown: dict[str, Any] = {**HIDDEN, "show_progress": "full", "show_progress_on": adding.told}
    done = adding.add.click(index, adding.files, parts, **shown)
    done.then(shelf.reload, shelf.asked, shelf.shown, **HIDDEN)


def _clear(places: list[Path]) -> None:
    """Remove what was sent, whatever became of it; each stands in a folder of its own."""
    for place in places:
        shutil.rmtree(place.parent, ignore_errors=True)
