"""The command line: one command, one call of the client."""

from __future__ import annotations

import sys
import traceback

from e2g_neo4j.cli.terminal import neutral
from e2g_neo4j.errors import E2GError

INTERRUPTED = 130
STOPPED = "Stopped. What was complete stays; run the same command again for the rest."


def main() -> None:
    """Run the command line. Errors are one line with the next step, and an exit code by kind of error."""
    debug, arguments = _without_debug(sys.argv[1:])
    try:
        from e2g_neo4j.cli.app import app

        app(args=arguments, prog_name="e2g")
    except E2GError as error:
        _fail(str(error), error.exit_code, debug)
    except KeyboardInterrupt:
        _fail(STOPPED, INTERRUPTED, debug)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught the interrupt, and says nothing
            _fail(STOPPED, INTERRUPTED, debug)
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def _without_debug(arguments: list[str]) -> tuple[bool, list[str]]:
    """`--debug` may stand anywhere before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return len(kept) < end, kept + arguments[end:]


def _fail(message: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print("Error: " + neutral(" ".join(message.split())), file=sys.stderr)
    sys.exit(code)
