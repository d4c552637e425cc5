"""The browser of the tests."""

from __future__ import annotations

from playwright.sync_api import expect

expect.set_options(timeout=30_000)  # a machine may be busy; what never comes fails all the same

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
