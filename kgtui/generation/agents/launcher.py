"""Starts an agent's command confined: it dies with its parent and writes nothing outside of its folder.

python -I -m kgtui.generation.agents.launcher FOLDER COMMAND...
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

from engine.sandbox import linux
from engine.sandbox.writable_files import limit_writing

_MOST_FILE_BYTES = 64 << 20
NOT_CONFINED = 125
NOT_FOUND = 127


def main(arguments: list[str]) -> int:
    """Confine this process, then become the command; returns only where that fails."""
    folder, command = Path(arguments[0]), arguments[1:]
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        limit_writing((folder,))
    except OSError as error:
        sys.stderr.write(f"the agent cannot be confined here, so it was not started: {error}\n")
        return NOT_CONFINED
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
    return NOT_FOUND


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
