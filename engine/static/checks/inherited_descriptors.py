"""Pipes, files and memory of the process that judges.

A descriptor that was inherited may be the channel of the results, and /proc leads to the memory of others.  What
the machine says about its processors is ordinary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file touches no descriptor and no process but its own variables."
CATCHES = (
    "import os\ndef f(x):\n    os.write(3, b'ok')\n    return x\n",
    "import os as o\ndef f(x):\n    o.dup2(1, 5)\n",
    "import os\nfor fd in os.listdir('/proc/self/fd'):\n    pass\n",
    "def f(x):\n    return open('/proc/self/mem', 'rb')\n",
    "from pathlib import Path\ndef f(x, pid):\n    return Path(f'/proc/{pid}/maps').read_text()\n",
    "import os\ndef f(x):\n    os.closerange(3, 99)\n    return x\n",
    "def f(x):\n    return open(3, 'w')\n",
    "import fcntl\ndef f(x):\n    fcntl.fcntl(3, 1)\n",
)
SPARES = (
    "CPU = open('/proc/cpuinfo').read()\n",
    "def f(x):\n    return open('weights.txt').read()\n",
    "'''Reads /proc/self/maps? No, it does not.'''\n",
    "import os\nHERE = os.path.dirname(__file__)\n",
    "import os\nif __name__ == '__main__':\n    os.write(1, b'done')\n",
    "import os\nCORES = os.cpu_count()\nFILES = os.listdir('.')\n",
    "import sys\nsys.stdout.flush()\n",
    "def f(x):\n    return open(x, 'rb')\n",
)
_CALLS = words(
    "os.write os.writev os.pwrite os.read os.readv os.pread os.dup os.dup2 os.close os.closerange os.fdopen "
    "os.sendfile os.pipe os.fstat os.set_inheritable os.memfd_create os.pidfd_open os.open fcntl. select. "
    "selectors. socket.fromfd termios. posix."
)
_PLACES = re.compile(r"^/(proc|dev/fd|dev/mem|dev/shm|sys/kernel)\b")
_INNOCENT = re.compile(r"^/proc/(cpuinfo|meminfo|version|driver/nvidia|loadavg|stat$|uptime)")


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for calls on descriptors, and for paths into other processes."""
    for node, name in reading.mentions(*_CALLS):
        yield hint("inherited_descriptors", node, f"{name} reaches for descriptors that this file was not given")
    for node, _ in reading.mentions("builtins.open", "io.open"):
        if isinstance(node, ast.Call) and node.args and isinstance(reading.names.value(node.args[0]), int):
            yield hint("inherited_descriptors", node, "this opens a descriptor that this file was not given")
    documentation = set(reading.docstrings())
    for constant in reading.host(ast.Constant):
        text = constant.value
        if (
            isinstance(text, str)
            and constant not in documentation
            and _PLACES.match(text)
            and not _INNOCENT.match(text)
        ):
            yield hint(
                "inherited_descriptors", constant, f"{text!r} leads into processes, their memory or their descriptors"
            )
