"""The command line. Each command calls one method of the client."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType

from e2g_neo4j.cli.waiting import HANDLER
from e2g_neo4j.errors import CorpusNotFoundError, E2GError
from e2g_neo4j.runtime.waiting import report_waiting

INTERRUPTED = 130
STOPPED = "Stopped. Finished work is kept; run the same command again for the rest."


def main() -> None:
    """Run the command line. An error prints one line and sets the exit code of its type."""
    debug, arguments = _without_debug(sys.argv[1:])
    _show_warnings()
    # Its threads wait for each other by spinning, which takes the processor from Neo4j. numpy reads this once.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where the terminal knows no other characters
    with suppress(ValueError):  # in the main thread only
        signal.signal(signal.SIGINT, _stop)
    try:
        with report_waiting("Loading e2g"):
            from e2g_neo4j.cli.app import app

            hide_torch()
        app(args=arguments, prog_name="e2g")
    except CorpusNotFoundError as error:
        _fail(f"{error}{_near_corpus(error.corpus)}", error.exit_code, debug)
    except E2GError as error:
        _fail(str(error), error.exit_code, debug)
    except KeyboardInterrupt:
        _fail(STOPPED, INTERRUPTED, debug)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught the interrupt without a message
            _fail(STOPPED, INTERRUPTED, debug)
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def hide_torch() -> None:
    """Do not import torch with the bundled pipeline. Others may need it. Invalid settings are reported later."""
    from e2g_neo4j.runtime.lazy_imports import leave_out_torch
    from e2g_neo4j.settings import load_settings

    with suppress(E2GError):
        if load_settings().spacy_model is None:
            leave_out_torch()


def _stop(number: int, frame: FrameType | None) -> None:
    """Say at once that the command stops: models and the database may need seconds to end what they do."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("\nStopping …", file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def _near_corpus(name: str) -> str:
    from e2g_neo4j.client import E2G
    from e2g_neo4j.errors import did_you_mean

    with suppress(E2GError), E2G() as e2g:
        return did_you_mean(name, e2g.corpora())
    return ""


def _show_warnings() -> None:
    """Print what the package logs, such as a lease that could not be renewed, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.getLogger("e2g_neo4j").addHandler(handler)
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # it logs what is tried again; other errors are raised too
    HANDLER.install()


def _without_debug(arguments: list[str]) -> tuple[bool, list[str]]:
    """Remove `--debug`, which may be anywhere before `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return len(kept) < end, kept + arguments[end:]


def _fail(message: str, code: int, debug: bool) -> None:
    from e2g_neo4j.cli.terminal import neutral

    if debug:
        traceback.print_exc()
    print("Error: " + neutral(" ".join(message.split())), file=sys.stderr)
    sys.exit(code)
