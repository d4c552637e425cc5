"""The collection as tools of the Model Context Protocol: ask, search, summarize, papers."""

from rag.mcpserver.protocol import PATH, http_application, serve_stdio
from rag.mcpserver.toolbox import Toolbox

__all__ = ["PATH", "Toolbox", "http_application", "serve_stdio"]
