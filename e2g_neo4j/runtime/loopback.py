"""Addresses of this machine."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def without_proxy(address: str | None) -> dict[str, Any]:
    """Return the options of a client of httpx for an address, by default that of Ollama: proxies of the environment are
    not for this machine."""
    address = address or os.environ.get("OLLAMA_HOST") or "localhost"
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname or "localhost"
    except ValueError:
        return {}
    return {"trust_env": False} if is_loopback(host) or host == "0.0.0.0" else {}  # noqa: S104 as Ollama takes it
