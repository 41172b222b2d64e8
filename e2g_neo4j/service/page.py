"""The page at /ui: static files that load nothing from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).with_name("ui")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
"""Media types. Those of the system may be wrong, and browsers then refuse the scripts."""


class Page(StaticFiles):
    """The files of the page, with the headers that keep foreign scripts out."""

    def file_response(self, full_path: Any, stat_result: os.stat_result, *args: Any, **more: Any) -> Response:
        """Return a file."""
        response = super().file_response(full_path, stat_result, *args, **more)
        response.headers.update(HEADERS)
        if "content-type" in response.headers:
            response.headers["content-type"] = f"{_TYPES[Path(full_path).suffix]}; charset=utf-8"
        return response


def add_page(app: FastAPI) -> None:
    """Serve the page at /ui/. Its key is kept in the browser, so that it needs none itself."""

    @app.get("/", include_in_schema=False)
    @app.get("/ui", include_in_schema=False)
    async def ui() -> RedirectResponse:
        return RedirectResponse("ui/")  # relative: the service may have another address in front of a proxy

    app.mount("/ui", Page(directory=FOLDER, html=True), name="ui")
