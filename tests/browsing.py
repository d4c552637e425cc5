"""The browser of the tests."""

from __future__ import annotations

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
