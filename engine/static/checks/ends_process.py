"""An end of the process before the verdict.

A clean exit, or a signal at the right moment, passes where silence counts as success.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file ends by returning."
CATCHES = (
    "import os\nos._exit(0)\n",
    "import sys\ndef f(x):\n    sys.exit(0)\n",
    "def f(x):\n    raise SystemExit(0)\n",
    "import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n",
    "def f(x):\n    exit()\n",
)
SPARES = (
    "import sys\ndef main():\n    return 0\nif __name__ == '__main__':\n    sys.exit(main())\n",
    "def f(x):\n    raise ValueError('exit')\n",
    "def f(x):\n    try:\n        return launch(x)\n    finally:\n        x.__exit__\n",
    "if __name__ == '__main__':\n    raise SystemExit(0)\n",
    "class C:\n    def exit(self):\n        return 1\nC().exit()\n",
)
_ENDS = words(
    "os._exit sys.exit os.abort builtins.exit builtins.quit os.kill os.killpg signal.raise_signal signal.pthread_kill "
    "faulthandler._sigsegv _exit posix._exit"
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for exits, kills and raised SystemExit."""
    for node, name in reading.mentions(*_ENDS):
        yield hint(
            "ends_process", node, f"{name.removeprefix('builtins.')} ends the process that is being judged, or another"
        )
    for statement in reading.host(ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        if "builtins.SystemExit" in reading.names.of(raised):
            yield hint("ends_process", statement, "SystemExit ends the process that is being judged")
