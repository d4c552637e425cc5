"""gradio inside the product's own server.

gradio is imported once its environment is as it should be, and everything cheaper was checked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from rag.mapping.drawing import style as map_style
from rag.page import downloads
from rag.page.asking import Asking
from rag.page.gate import UploadGate
from rag.page.setting import Other, Setting
from rag.page.uploading import INCOMING
from rag.serving.application import Service

if TYPE_CHECKING:
    import gradio as gr


def application(setting: Setting, service: Service, others: Sequence[Other] = ()) -> ASGIApp:
    """The page in the application of the API, behind one gate.

    Every option of gradio's is given here, so that none is taken from elsewhere.
    """
    _quieten()
    _receive(setting.config.data_dir / INCOMING)
    import gradio as gr

    from rag.page.page import build

    app = service.app
    app.include_router(downloads.router(Asking(setting)))
    most = setting.config.max_upload_mb * 1_000_000 if setting.config.uploads else 0
    gr.mount_gradio_app(
        app,
        build(setting, others),
        path="/",
        theme=_theme(),
        css=_style(),
        footer_links=[],
        run_history=False,
        app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
        root_path="",
        allowed_paths=[],
        blocked_paths=[],
        show_error=False,
        max_file_size=max(most, 1),
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
    )
    return service.guarded(lambda inner: UploadGate(inner, most))


def _style() -> str:
    """The style sheets of all tabs; the one of the whole page comes last by its name."""
    sheets = sorted(Path(__file__).parent.glob("*.css"))
    return "\n".join([map_style(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)])


def _theme() -> gr.themes.Base:
    """The system's own fonts: others would be fetched."""
    import gradio as gr

    return gr.themes.Default(
        primary_hue="indigo",
        neutral_hue="slate",
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _quieten() -> None:
    """Its variables can open files and doors; it calls home unless told otherwise."""
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


def _receive(folder: Path) -> None:
    """Files are sent to the disk of the data folder; what an earlier run left there goes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
