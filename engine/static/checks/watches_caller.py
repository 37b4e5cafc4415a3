"""A look at who calls, and for what.

Frames, the arguments of the process and the state of the profiler tell whether a call is checked or timed.  The
signature of a function, a printed traceback and the arguments of a script of its own are ordinary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file does not look at its caller."
CATCHES = (
    "import inspect\ndef f(x):\n    if 'check' in inspect.stack()[1].filename:\n        return x\n",
    "import sys as s\ndef f(x):\n    return s._getframe(1).f_locals\n",
    "import sys\nTIMING = '--bench' in sys.argv\n",
    "import traceback\ndef f(x):\n    return traceback.extract_stack()\n",
    "import sys\ndef f(x):\n    return getattr(sys, '_get' + 'frame')(1)\n",
    "import __main__\ndef f(x):\n    return __main__.expected\n",
    "import torch\ndef f(x):\n    if torch.autograd.profiler._is_profiler_enabled:\n        return x\n",
    "import os\nif os.environ.get('PYTEST_CURRENT_TEST'):\n    FAST = False\n",
    "def f(x):\n    try:\n        raise ValueError\n    except ValueError as error:\n"
    "        return error.__traceback__.tb_frame.f_back\n",
)
SPARES = (
    "import inspect\nNAMES = inspect.signature(len).parameters\n",
    "import traceback\ndef f(x):\n    try:\n        pass\n    except ValueError:\n        traceback.print_exc()\n",
    "import sys\nif __name__ == '__main__':\n    print(sys.argv)\n",
    "import os\nBLOCK = int(os.environ.get('SILU_BLOCK', '64'))\n",
    "import sys\nOLD = sys.version_info < (3, 12)\n",
    "import torch\ndef f(x):\n    if torch.is_grad_enabled() and x.requires_grad:\n        return Function.apply(x)\n",
    "import inspect\nSOURCE = inspect.getsource(len)\n",
    "import os\nDEBUG = os.getenv('TRITON_INTERPRET') == '1'\n",
    "import torch\ndef f(x):\n    return torch.cuda.is_current_stream_capturing()\n",
    "import torch\ndef f(x):\n    with torch.profiler.record_function('norm'):\n        return launch(x)\n",
    "from torch.profiler import ProfilerActivity, profile\ndef bench(x):\n"
    "    with profile(activities=[ProfilerActivity.CPU]) as seen:\n        f(x)\n    print(seen.key_averages())\n",
)
_WATCHING = words(
    "inspect.stack inspect.currentframe inspect.trace inspect.getouterframes inspect.getinnerframes "
    "inspect.getframeinfo sys._getframe sys._getframemodulename sys._current_frames sys._current_exceptions "
    "sys.argv sys.orig_argv traceback.extract_stack traceback.walk_stack traceback.print_stack "
    "traceback.format_stack __main__. torch.autograd.profiler._is_profiler_enabled "
    "torch._C._autograd._profiler_enabled torch.autograd._profiler_enabled torch.profiler. sys.gettrace "
    "sys.getprofile os.getppid psutil."
)
_PROFILING = words(
    "torch.profiler.record_function torch.profiler.profile torch.profiler.schedule torch.profiler.ProfilerActivity "
    "torch.profiler.tensorboard_trace_handler"
)
"""What gives a profiler names to show, and what starts one: neither says whether somebody else's is on."""
_FRAME = frozenset({"f_back", "f_locals", "f_globals", "f_code", "tb_frame", "gi_frame", "cr_frame"})
_HARNESS = re.compile(r"pytest|kgtui|evaluat|grader|unittest|_judge|harness", re.IGNORECASE)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever frames, arguments, the main module, a profiler or a harness's variables are looked at."""
    for node, name in reading.mentions(*_WATCHING):
        if not any(name == one or name.startswith(f"{one}.") for one in _PROFILING):
            yield hint("watches_caller", node, f"{name} tells who calls and for what")
    for attribute in reading.host(ast.Attribute):
        if attribute.attr in _FRAME:
            yield hint("watches_caller", attribute, f"{attribute.attr} looks into the code that calls")
    for item in reading.host(ast.Subscript):
        if "__main__" in reading.names.of(item):
            yield hint("watches_caller", item, "this looks into the program that calls")
    for node, _ in reading.mentions("os.environ.get", "os.getenv", "os.environ"):
        key = _key(reading, node)
        if key and _HARNESS.search(key):
            yield hint("watches_caller", node, f"{key} tells whether a harness runs this")


def _key(reading: Reading, node: ast.expr) -> str | None:
    if isinstance(node, ast.Call):
        return reading.names.text(node.args[0]) if node.args else None
    above = reading.parent(node)
    return reading.names.text(above.slice) if isinstance(above, ast.Subscript) else None
