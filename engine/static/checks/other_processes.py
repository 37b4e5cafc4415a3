"""Processes that do the work, or stay when the run is over.

A question to the driver's tools about the machine, such as nvidia-smi or a compiler's version, is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file starts no process."
CATCHES = (
    "import subprocess\ndef f(x):\n    subprocess.Popen(['worker'])\n",
    "import os\ndef f(x):\n    if os.fork():\n        return x\n",
    "from os import system as s\ns('python helper.py &')\n",
    "import multiprocessing as mp\ndef f(x):\n    mp.Process(target=work).start()\n",
    "from concurrent.futures import ProcessPoolExecutor\nPOOL = ProcessPoolExecutor(2)\n",
    "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'flash-attn'])\n",
    "import torch.multiprocessing as tm\ntm.spawn(work)\n",
)
SPARES = (
    "import subprocess\nGPU = subprocess.check_output(['nvidia-smi', '-L'])\n",
    "import subprocess\nV = subprocess.run(['nvcc', '--version'], capture_output=True)\n",
    "import os\nCORES = os.cpu_count()\nPID = os.getpid()\n",
    "import multiprocessing\nCORES = multiprocessing.cpu_count()\n",
    "import subprocess\nif __name__ == '__main__':\n    subprocess.run(['make'])\n",
    "import os\nROOT = os.path.join('a', 'b')\n",
    "import subprocess\ndef f(x):\n    try:\n        return launch(x)\n    except subprocess.CalledProcessError:\n"
    "        raise\n",
)
_STARTS = words(
    "subprocess.run subprocess.Popen subprocess.call subprocess.check_call subprocess.check_output "
    "subprocess.getoutput subprocess.getstatusoutput _posixsubprocess. os.system os.popen os.fork os.forkpty "
    "os.posix_spawn os.posix_spawnp os.execv os.execve os.execvp os.execl os.execlp os.spawnv os.spawnl os.setsid "
    "os.startfile pty. multiprocessing.Process multiprocessing.Pool multiprocessing.get_context "
    "multiprocessing.Manager multiprocessing.process. multiprocessing.shared_memory. multiprocessing.managers. "
    "torch.multiprocessing. concurrent.futures.ProcessPoolExecutor asyncio.create_subprocess_exec "
    "asyncio.create_subprocess_shell pip. ensurepip. posix.fork ray. daemon."
)
_TOOLS = frozenset({"nvidia-smi", "rocm-smi", "rocminfo", "lscpu", "uname", "xpu-smi", "npu-smi", "mx-smi", "ixsmi"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for everything that starts a process or shares memory with one."""
    for node, name in reading.mentions(*_STARTS):
        if not _only_asks(reading, node):
            yield hint(
                "other_processes", node, f"{name}: another process may do the work, or stay when the run is over"
            )


def _only_asks(reading: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    command = node.args[0]
    parts = command.elts if isinstance(command, ast.List | ast.Tuple) else [command]
    words = [word for part in parts for word in (reading.names.text(part) or "?").split()]
    return bool(words) and (words[0] in _TOOLS or words[1:] == ["--version"])
