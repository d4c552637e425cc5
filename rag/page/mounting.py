"""gradio inside the product's own server.

gradio is imported once its environment is as it should be, and everything cheaper was checked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import ASGIApp

from rag import server
from rag.page.setting import Setting

if TYPE_CHECKING:
    import gradio as gr


def application(setting: Setting) -> ASGIApp:
    """Every option of gradio's is given here, so that none is taken from elsewhere."""
    _quieten()
    import gradio as gr

    from rag.page.page import build

    app = server.create()
    app.add_api_route("/gradio_api/upload", _refuse_upload, methods=["POST"], response_model=None)
    gr.mount_gradio_app(
        app,
        build(setting),
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
        max_file_size="1kb",
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
    )
    return server.guarded(app)


def _style() -> str:
    """The style sheets of all tabs; the one of the whole page comes last by its name."""
    sheets = sorted(Path(__file__).parent.glob("*.css"))
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def _theme() -> gr.themes.Base:
    """The system's own fonts: others would be fetched."""
    import gradio as gr

    return gr.themes.Default(
        primary_hue="indigo",
        neutral_hue="slate",
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _refuse_upload() -> Response:
    """Nothing on the page takes files, and gradio would keep them."""
    return Response(status_code=404)


def _quieten() -> None:
    """Its variables can open files and doors; it calls home unless told otherwise."""
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
