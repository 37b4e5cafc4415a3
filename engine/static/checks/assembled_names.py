"""Names assembled at run time, which a search of the source does not find.

A dtype looked up by its name is ordinary; calling an operator looked up by an unknown name, or a name assembled from
pieces, is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.names import UNSEEN
from engine.static.findings import hint

STRICT = "Every call is written with its name."
CATCHES = (
    "import torch\ndef f(x, name):\n    return getattr(torch, name)(x)\n",
    "import torch\nop = getattr(torch.nn.functional, NAME)\ndef f(x):\n    return op(x)\n",
    "import torch\ndef f(x):\n    return getattr(torch, 'mat' + 'mul')(x, x)\n",
    "import torch\ndef f(x):\n    return torch.__dict__['xamtfos'[::-1]](x, -1)\n",
    "import importlib\ndef f(x, name):\n    return importlib.import_module(name).run(x)\n",
    "lib = __import__('tor' 'ch'.upper().lower())\n",
)
SPARES = (
    "import torch\ndef f(x, name):\n    return torch.empty(4, dtype=getattr(torch, name))\n",
    "import triton.language as tl\ndef f(dtype):\n    return getattr(tl, str(dtype).removeprefix('torch.'))\n",
    "import torch\nHAS = getattr(torch, 'float8_e4m3fn', None)\n",
    "def f(x, name):\n    return getattr(x, name)\n",
    "import importlib\ntry:\n    tma = importlib.import_module('triton.tools.tensor_descriptor')\n"
    "except ImportError:\n    tma = None\n",
    "import torch\ndef f(x):\n    return getattr(torch, 'empty_like')(x)\n",
    "import torch\ndef f(x, n):\n    return x.new_empty(n), getattr(torch, f'float{n}')\n",
)
_READERS = frozenset({"builtins.getattr", "builtins.__import__", "importlib.import_module", "importlib.__import__"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for calls by an unknown name, and for names assembled from pieces."""
    for call in reading.host(ast.Call):
        if any(
            (name.endswith(f".{UNSEEN}") and name.startswith("torch")) or name.startswith(f"{UNSEEN}.")
            for name in reading.names.of(call.func)
        ):
            yield hint("assembled_names", call, "the called function is looked up by a name computed at run time")
        elif reading.names.of(call.func) & _READERS:
            yield from _apart(reading, call, call.args)
    for item in reading.host(ast.Subscript):
        if any(name.endswith("__dict__") or name == "sys.modules" for name in reading.names.of(item.value)):
            yield from _apart(reading, item, [item.slice])


def _apart(reading: Reading, node: ast.expr, parts: list[ast.expr]) -> Iterator[Finding]:
    for part in parts:
        text = reading.names.text(part)
        if text is not None and isinstance(part, ast.BinOp | ast.Call | ast.Subscript):
            yield hint("assembled_names", node, f"the name {text!r} is assembled from pieces")
