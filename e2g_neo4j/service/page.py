"""The pages at /ui and /docs, which load nothing from elsewhere."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi_swagger import patch_fastapi
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from e2g_neo4j.retrieval.strategies import load_strategies

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

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
"""Media types. Those of the system may be wrong, and browsers then refuse the scripts."""


class Page(StaticFiles):
    """The files of the page, with the headers that keep foreign scripts out."""

    def file_response(self, full_path: Any, stat_result: os.stat_result, *args: Any, **more: Any) -> Response:
        if Path(full_path).name == "index.html":
            response: Response = HTMLResponse(start_page())
        else:
            response = super().file_response(full_path, stat_result, *args, **more)
        response.headers.update(HEADERS)
        if "content-type" in response.headers:
            response.headers["content-type"] = f"{_TYPES[Path(full_path).suffix]}; charset=utf-8"
        return response


@cache
def start_page() -> str:
    """Return the page, with the modes to choose from."""
    modes = "".join(
        f'<option value="{one.name}">{one.name}: {escape(one.ranked_by)}</option>' for one in load_strategies().values()
    )
    return (FOLDER / "index.html").read_text(encoding="utf-8").replace("<!-- modes -->", modes)


def add_page(app: FastAPI) -> None:
    """Serve the page at /ui/. Its key is kept in the browser, so that it needs none itself."""

    @app.get("/", include_in_schema=False)
    @app.get("/ui", include_in_schema=False)
    async def ui() -> RedirectResponse:
        return RedirectResponse("ui/")  # relative: the service may have another address in front of a proxy

    app.mount("/ui", Page(directory=FOLDER, html=True), name="ui")


def add_docs(app: FastAPI) -> None:
    """Serve Swagger UI at /docs, with a policy that admits its one inline script by its hash."""

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        page = get_swagger_ui_html(
            openapi_url=f"{request.scope.get('root_path', '').rstrip('/')}/openapi.json",
            title=f"{app.title} - Swagger UI",
            swagger_js_url=request.url_for("swagger_ui_bundle_js").path,
            swagger_css_url=request.url_for("swagger_ui_css").path,
            swagger_favicon_url=request.url_for("swagger_favicon_png").path,
            swagger_ui_parameters={"persistAuthorization": False},
        )
        scripts = " ".join(
            f"'sha256-{b64encode(sha256(one).digest()).decode()}'" for one in _INLINE.findall(bytes(page.body))
        )
        page.headers.update(HEADERS)
        page.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return page

    patch_fastapi(app, redirect_from_root_to_docs=False)  # for the assets
