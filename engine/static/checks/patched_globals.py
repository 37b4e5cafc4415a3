"""Replaced functions of PyTorch, Triton, the clock or Python itself.

Code in the same process then measures, compares or prints with the candidate's functions.  A backport guarded by
hasattr is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.findings import hint

STRICT = "Nothing outside the file is changed."
CATCHES = (
    "import torch\ntorch.allclose = lambda *a, **k: True\n",
    "import torch as t\nt.Tensor.equal = t.cuda.Event.elapsed_time = agree\n",
    "import torch\nsetattr(torch, 'all' + 'close', agree)\n",
    "import time\ntime.perf_counter = lambda: 0\n",
    "import builtins\nbuiltins.print = quiet\n",
    "import torch\ntorch.__dict__.update(allclose=agree)\n",
    "import torch\nvars(torch)['allclose'] = agree\n",
    "from unittest import mock\nmock.patch('torch.allclose', agree).start()\n",
    "import triton.testing as T\nT.do_bench = fast\n",
    "import sys\nsys.modules['torch'] = fake\n",
    "import sys\nsys.stdout = Quiet()\n",
    "def f(x):\n    __builtins__['abs'] = agree\n    return x\n",
    "import torch\ndef f(x):\n    c = torch.cuda\n    c.synchronize = lambda *a: None\n    return x\n",
)
SPARES = (
    "import torch\nx = torch.empty(3)\nx.grad = None\n",
    "import triton.language as tl\nif not hasattr(tl, 'exp2'):\n    tl.exp2 = tl.math.exp2\n",
    "import triton\ntriton.set_allocator(allocate)\n",
    "class M:\n    def __init__(self):\n        self.time = 3\n        self.torch = None\n",
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = False\n",
    "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.weight = torch.nn.Parameter(torch.empty(3))\n",
    "import triton\n@triton.jit\ndef k(x):\n    pass\nk.calls = 0\n",
    "import torch\nstate = {}\nstate.update(a=1)\nstate['torch'] = torch\n",
    "import torch\nif __name__ == '__main__':\n    torch.allclose = print\n",
    "import torch\ndef f(x):\n    torch = None\n    return torch\n",
    "import time\ndef f(x):\n    start = time.perf_counter()\n    return x\n",
    "import torch\ntry:\n    from torch import float8_e4m3fn\nexcept ImportError:\n    float8_e4m3fn = None\n",
    "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\n",
)
_WATCHED = words(
    "torch triton builtins __builtins__ time statistics numpy math random sys gc inspect ctypes os subprocess "
    "json threading functools importlib tl io types operator pickle"
)
_STATE = (
    "torch.backends.",
    "torch._dynamo.config",
    "torch._inductor.config",
    "sys.path",
    "os.environ",
    "triton.knobs.",
    "sys.dont_write_bytecode",
    "sys.argv",
    "torch.cuda.amp",
)
_PATCHERS = ("unittest.mock.", "mock.patch", "pytest.MonkeyPatch", "wrapt.")


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every store into a module, class or function of another file."""
    for attribute in reading.host(ast.Attribute):
        if isinstance(attribute.ctx, ast.Store | ast.Del):
            names = {f"{name}.{attribute.attr}" for name in reading.names.of(attribute.value)}
            yield from _stored(reading, attribute, names)
    for item in reading.host(ast.Subscript):
        if isinstance(item.ctx, ast.Store | ast.Del):
            bases = reading.names.of(item.value)
            names = {name for name in bases if name.endswith("__dict__") or name in ("sys.modules", "__builtins__")}
            yield from _stored(reading, item, names)
    for call in reading.host(ast.Call):
        yield from _called(reading, call)
    for node, name in reading.mentions(*_PATCHERS):
        yield hint("patched_globals", node, f"{name} replaces attributes of another module")


def _called(reading: Reading, call: ast.Call) -> Iterator[Finding]:
    names = reading.names.of(call.func)
    if names & {"builtins.setattr", "builtins.delattr"} and call.args:
        yield from _stored(reading, call, reading.names.of(call.args[0]))
    changes = {name.rpartition(".")[0] for name in names if name.endswith((".update", ".__setitem__", ".setdefault"))}
    yield from _stored(reading, call, {name for name in changes if name.endswith("__dict__") or name == "sys.modules"})
    yield from _stored(reading, call, {name.rpartition(".")[0] for name in names if name.endswith(".__setattr__")})


def _stored(reading: Reading, node: ast.expr, names: set[str] | frozenset[str]) -> Iterator[Finding]:
    foreign = sorted(name for name in names if _is_foreign(name))
    if foreign and not _fills_a_gap(reading, node):
        yield hint("patched_globals", node, f"{foreign[0]} is replaced for the whole process")


def _is_foreign(name: str) -> bool:
    if ")" in name or "]" in name or name.startswith(_STATE):
        return False
    return name.partition(".")[0] in _WATCHED


def _fills_a_gap(reading: Reading, node: ast.AST) -> bool:
    tests = [above.test for above in reading.ancestors(node) if isinstance(above, ast.If)]
    return any("hasattr" in ast.unparse(test) and "not " in ast.unparse(test) for test in tests)
