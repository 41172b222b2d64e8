"""`make ollama`: the real Ollama server, built once into the user's cache folder. Prints where it is.

Go fetches Ollama's module and checks it against its public checksum database. The module leaves three C++ header
libraries out, because Go modules hold no `vendor` folders; they are in llama.cpp, whose sources the package
llama-cpp-python carries. pip checks that archive against the hash below. No rights of root are needed, only Go,
a C++ compiler and a Python with pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import venv
from pathlib import Path

import platformdirs
from filelock import FileLock

VERSION = "v0.17.4"
HEADERS = "llama-cpp-python==0.3.36"
HEADERS_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
FOLDER = Path(platformdirs.user_cache_dir("e2g-neo4j", appauthor=False)) / f"ollama-{VERSION}"
BINARY = FOLDER / "ollama"


def build() -> Path:
    """The server's executable, built unless it is there already."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "build.lock"):
        if not BINARY.exists():
            if not shutil.which("go"):
                sys.exit("Ollama is built by Go: install Go 1.24 or later, then run `make ollama` again.")
            began = time.perf_counter()
            headers = fetch_headers(FOLDER / "headers")
            # For this processor: the oldest x86, which Go builds for, generates a fortieth of the tokens in a second.
            native = "" if sys.platform == "darwin" else " -march=native"
            include = f"-O3{native} -I{headers}"
            place = FOLDER / "built"
            environment = {"CGO_ENABLED": "1", "CGO_CFLAGS": include, "CGO_CXXFLAGS": include, "GOBIN": str(place)}
            print(f"Building Ollama {VERSION}: some five minutes on two cores …", file=sys.stderr)
            subprocess.run(
                ["go", "install", f"github.com/ollama/ollama@{VERSION}"], env={**os.environ, **environment}, check=True
            )
            (place / "ollama").rename(BINARY)
            shutil.rmtree(place)
            print(f"Built in {time.perf_counter() - began:.0f} s.", file=sys.stderr)
    return BINARY


def fetch_headers(folder: Path) -> Path:
    """nlohmann/json, stb and miniaudio, as llama.cpp carries them."""
    done = folder / "done"
    if done.exists():
        return folder
    tools, download = FOLDER / "tools", FOLDER / "download"
    venv.create(tools, with_pip=True, clear=True)  # an environment need not have pip
    download.mkdir(exist_ok=True)
    wanted = download / "requirements.txt"
    wanted.write_text(f"{HEADERS} --hash=sha256:{HEADERS_SHA256}\n")
    pip = [str(tools / ("Scripts" if os.name == "nt" else "bin") / "python"), "-m", "pip", "download", "--quiet"]
    only_sources = ["--no-deps", "--no-binary", "llama-cpp-python", "--require-hashes", "-r", str(wanted)]
    subprocess.run([*pip, *only_sources, "-d", str(download)], check=True)
    [archive] = download.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        for member in sources.getmembers():
            _, found, name = member.name.partition("/vendor/llama.cpp/vendor/")
            if found and member.isfile() and name.startswith(("nlohmann/", "stb/", "miniaudio/")):
                member.name = name
                sources.extract(member, folder, filter="data")
    done.touch()
    shutil.rmtree(tools)
    shutil.rmtree(download)
    return folder


if __name__ == "__main__":
    print(build())
