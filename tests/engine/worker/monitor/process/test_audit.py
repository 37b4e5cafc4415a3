"""Actions of a candidate's own lines are noted; those of the standard library, torch and Triton are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forking import Forking

PROGRAM = """
import json, sys
from pathlib import Path
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from engine.worker.monitor.operators import torch_hooks
from engine.worker.monitor.process.audit import Audit
torch_hooks.install_hooks()
path, folder = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.append(str(folder))
audit = Audit()
audit.install(path, folder)
reader = SourceFileLoader("candidate", str(path))
module = module_from_spec(spec_from_loader("candidate", reader))
with audit.on(loading=True):
    reader.exec_module(module)
entry = getattr(module, "entry", lambda: None)
entry()  # not noted: nothing is on
with audit.on():
    entry()
used = [["door", change.detail, None, False, 1] for change in audit.bypasses()]
print(json.dumps(used + [[one.kind, one.detail, one.line, one.loading, one.times] for one in audit.seen()]))
"""

Actions = list[list[Any]]  # Any: words, numbers and None as they come from JSON


@pytest.fixture
def actions(tmp_path: Path, fresh_process: Forking) -> Callable[..., Actions]:
    """What is noted of a candidate with this text, in a process of its own, since a hook stays for good."""

    def run(source: str, beside: str = "") -> Actions:
        room, folder = tmp_path / "room", tmp_path / "folder"
        for place in (room / "candidate", folder):
            place.mkdir(parents=True, exist_ok=True)
        (room / "candidate" / "kernel.py").write_text(source)
        (folder / "beside.py").write_text(beside)
        done = fresh_process.run(PROGRAM, str(room / "candidate" / "kernel.py"), str(folder), cwd=room)
        assert done.returncode == 0, done.stderr
        reported: Actions = json.loads(done.stdout.splitlines()[-1])
        return reported

    return run


@pytest.mark.parametrize(
    ("source", "kind", "detail"),
    [
        (
            "import linecache, warnings\ndef entry():\n    linecache.clearcache()\n"
            "    warnings.formatwarning('', UserWarning, '/proc/self/maps', 1)\n",
            "file_read",
            "/proc/self/maps",
        ),
        ("import sys\ndef entry(): sys._getframe(1)\n", "frames", "sys._getframe"),
        ("import inspect\ndef entry(): inspect.currentframe()\n", "frames", "sys._getframe"),
        ("import sys\ndef entry(): sys.settrace(None)\n", "frames", "sys.settrace"),
        ("import gc\ndef entry(): gc.get_objects()\n", "objects", "gc.get_objects"),
        (
            "import importlib.util\nfrom pathlib import Path\n"
            "def entry():\n    file = str(Path(__file__).with_name('native.so'))\n"
            "    spec = importlib.util.spec_from_file_location('native', file)\n"
            "    try:\n        importlib.util.module_from_spec(spec)\n"
            "    except ImportError:\n        pass\n",
            "library", "dlopen of its own /",
        ),
        ("import gc\ndef entry(): gc.get_referrers([])\n", "objects", "gc.get_referrers"),
        ("import socket\ndef entry(): socket.socket(socket.AF_UNIX).close()\n", "socket", "socket.__new__"),
        ("import subprocess\ndef entry(): subprocess.run(['true'])\n", "process", "subprocess true"),
        ("import os\ndef entry(): os.system('true')\n", "process", "os.system true"),
        ("import os\ndef entry(): os.waitpid(os.fork() or os._exit(0), 0)\n", "process", "os.fork"),
        ("def entry(): exec('1')\n", "exec", "code made at run time"),
        ("def entry(): eval('1 + 1')\n", "exec", "code made at run time"),
        ("import ctypes\ndef entry(): ctypes.CDLL('libc.so.6')\n", "library", "dlopen libc.so.6"),
        (
            "import ctypes, _ctypes\ndef entry(): _ctypes.dlsym(ctypes.CDLL(None)._handle, 'mprotect')\n",
            "library", "dlsym mprotect",
        ),
        (
            "def entry():\n    try:\n        open('/dev/shm/no-such-file')\n    except OSError:\n        pass\n",
            "file_read", "/dev/shm/no-such-file",
        ),
        ("def entry(): open('/proc/self/maps').close()\n", "file_read", "/proc/self/maps"),
        ("from pathlib import Path\ndef entry(): Path('/proc/1/../self/environ').read_bytes()\n", "file_read",
         "/proc/self/environ"),
        ("def entry():\n    try: open('/nowhere/x', 'w')\n    except OSError: pass\n", "file_written", "/nowhere/x"),
        ("import os\ndef entry():\n    try: os.open('/nowhere/x', os.O_RDWR)\n    except OSError: pass\n",
         "file_written", "/nowhere/x"),
        ("def entry():\n    try: import cupy\n    except ImportError: pass\n", "import", "cupy"),
        ("import mmap, sys\ndef entry():\n    with open('/proc/self/status') as f:\n"
         "        try: mmap.mmap(f.fileno(), 1, prot=mmap.PROT_READ)\n        except ValueError: pass\n", "memory",
         "mmap of /proc/"),
        ("import tempfile\ndef entry():\n    import ctypes\n    path = tempfile.mkdtemp() + '/own.so'\n"
         "    try: ctypes.CDLL(path)\n    except OSError: pass\n", "library", "dlopen of its own /"),
        ("from pathlib import Path\nfrom triton import knobs\ndef entry():\n    place = Path(knobs.cache.dir)\n"
         "    try: (place / 'planted.cubin').write_bytes(b'')\n    except OSError: pass\n", "file_written",
         "in the compiler's cache: /"),
    ],
)  # fmt: skip
def test_action_is_noted(actions: Callable[..., Actions], source: str, kind: str, detail: str) -> None:
    noted = actions(source)
    assert any(one[0] == kind and one[1].startswith(detail) and not one[3] for one in noted), noted


@pytest.mark.parametrize(
    "source",
    [
        "from collections import namedtuple\ndef entry(): namedtuple('P', 'x y')(1, 2)\n",
        "from dataclasses import make_dataclass\ndef entry(): make_dataclass('P', ['x'])(1)\n",
        "import logging\nlogging.basicConfig()\ndef entry(): logging.getLogger('a').warning('said')\n",
        "import warnings\ndef entry(): warnings.warn('careful')\n",
        "import engine, linecache, warnings\nwarnings.simplefilter('always')\n"
        "def entry():\n    linecache.clearcache()\n"
        "    warnings.warn_explicit('careful', UserWarning, engine.__file__, 1)\n",
        "import enum\ndef entry(): enum.Enum('E', 'a b')\n",
        "import inspect\ndef entry(): inspect.getsource(entry)\n",
        "def entry(): open('own.txt', 'w').close()\n",
        "def entry(): open('/dev/null', 'w').close()\n",
        "def entry(): open('/proc/cpuinfo').close()\n",
        "import tempfile\ntempfile.tempdir = '.'\ndef entry(): tempfile.TemporaryFile().close()\n",
        "def entry(): import wave, colorsys\n",
        "def entry(): import beside\n",
        "import threading\ndef entry():\n    one = threading.Thread(target=int)\n    one.start()\n    one.join()\n",
        "import triton\n@triton.jit\ndef k(x):\n    pass\ndef entry(): import torch; torch.softmax(torch.ones(3), 0)\n",
    ],
)
def test_honest_work_is_not_noted(actions: Callable[..., Actions], source: str) -> None:
    assert actions(source) == []


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        (
            "import torch\ndef entry():\n    with torch._C._DisableTorchDispatch(): torch.ones(2).exp()\n",
            "torch._C._DisableTorchDispatch was used in line 3",
        ),
        (
            "from torch.utils._python_dispatch import _disable_current_modes as off\ndef entry():\n    with off(): 1\n",
            "torch.utils._python_dispatch._disable_current_modes was used in line 3",
        ),
        (
            "import torch\ndef entry(): getattr(torch._C, 'DisableTorch' + 'Function')()\n",
            "torch._C.DisableTorchFunction was used in line 2",
        ),
        (
            "import torch\ndef entry():\n    exp, x = torch.ops.aten.exp.default, torch.ones(2)\n"
            "    exp.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), x)\n",
            "torch._ops.OpOverload.redispatch was used in line 4",
        ),
    ],
)
def test_access_bypassing_ledger_is_noted(actions: Callable[..., Actions], source: str, detail: str) -> None:
    assert actions(source) == [["door", detail, None, False, 1]]


def test_hook_used_by_torch_is_not_recorded(actions: Callable[..., Actions]) -> None:
    source = (
        "import torch\nfrom torch.utils._python_dispatch import TorchDispatchMode\nclass Mode(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, function, types, args=(), kwargs=None):\n        return function(*args)\n"
        "def entry():\n    with Mode(): torch.ones(2).exp()\n    torch.func.vmap(torch.exp)(torch.ones(2))\n"
    )
    assert actions(source) == []


def test_action_has_line_count_and_time(actions: Callable[..., Actions]) -> None:
    source = "import gc\ngc.get_objects()\ndef entry():\n    for _ in range(3):\n        gc.get_objects()\n"
    assert actions(source) == [
        ["objects", "gc.get_objects", 2, True, 1],
        ["objects", "gc.get_objects", 5, False, 3],
    ]


def test_action_of_bundled_module_is_own_without_line(actions: Callable[..., Actions]) -> None:
    noted = actions("import beside\nentry = beside.hunt\n", "import gc\ndef hunt(): gc.get_objects()\n")
    assert noted == [["objects", "gc.get_objects", None, False, 1]]


def test_action_of_executed_text_is_own(actions: Callable[..., Actions]) -> None:
    noted = actions("text = compile('import gc; gc.get_objects()', 'made up', 'exec')\ndef entry(): exec(text)\n")
    assert ["objects", "gc.get_objects", 2, False, 1] in noted


def test_no_more_is_noted_than_fits(actions: Callable[..., Actions]) -> None:
    source = (
        "def entry():\n    for n in range(300):\n        try: open(f'/nowhere/{n}')\n        except OSError: pass\n"
    )
    assert len(actions(source)) == 256
