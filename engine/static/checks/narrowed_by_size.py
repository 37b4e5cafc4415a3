"""Lower precision for some sizes than for others.

Verified sizes can be exact while timed ones are computed at half the width.  A choice of tiles by size is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.findings import hint

STRICT = ""
CATCHES = (
    "import torch\ndef f(x):\n    x = x if x.numel() < 1000 else x.to(torch.bfloat16)\n    return launch(x)\n",
    "def f(x):\n    if x.shape[0] > 4096:\n        x = x.half()\n    return launch(x)\n",
    "import torch as t\nLARGE = 1 << 20\ndef f(x, w):\n    n = x.numel()\n    if n >= LARGE:\n"
    "        return launch(x.type(t.float16), w)\n"
    "    return launch(x, w)\n",
)
SPARES = (
    "def f(x):\n    block = 64 if x.numel() < 1000 else 128\n    return launch(x, block)\n",
    "import torch\ndef f(x):\n    return launch(x.to(torch.float16))\n",
    "import torch\ndef f(x):\n    if x.shape[0] > 4096:\n        x = x.to(torch.float32)\n    return launch(x)\n",
    "import torch\ndef f(x):\n    if x.dtype == torch.float16:\n        return launch(x).half()\n"
    "    return launch(x)\n",
)
_NARROW = words(
    "torch.float16 torch.bfloat16 torch.half torch.float8_e4m3fn torch.float8_e5m2 torch.int8 torch.float8_e4m3fnuz"
)
_SIZES = frozenset({"numel", "shape", "size", "nelement", "ndim", "nbytes"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every cast to a narrow type that only some sizes get."""
    branches: list[tuple[ast.expr, list[ast.stmt] | list[ast.expr]]] = []
    branches += [(node.test, [*node.body, *node.orelse]) for node in reading.host(ast.If)]
    branches += [(node.test, [node.body, node.orelse]) for node in reading.host(ast.IfExp)]
    for test, arms in branches:
        if _asks_for_size(reading, test):
            for node in (part for arm in arms for part in ast.walk(arm) if isinstance(part, ast.Call)):
                if _narrows(reading, node):
                    yield hint("narrowed_by_size", node, "lower precision for some sizes only")


def _asks_for_size(reading: Reading, test: ast.expr) -> bool:
    compared = [part for part in ast.walk(test) if isinstance(part, ast.Compare)]
    if not any(isinstance(order, ast.Lt | ast.Gt | ast.LtE | ast.GtE) for part in compared for order in part.ops):
        return False
    parts = [part for whole in compared for part in ast.walk(whole)]
    for name in (part for part in tuple(parts) if isinstance(part, ast.Name)):
        value = reading.names.only_value(name)
        parts += ast.walk(value) if value is not None else ()
    return any(isinstance(part, ast.Attribute) and part.attr in _SIZES for part in parts)


def _narrows(reading: Reading, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in ("half", "bfloat16") and not call.args:
        return True
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return call.func.attr in ("to", "type") and any(reading.names.of(item) & _NARROW for item in given)
