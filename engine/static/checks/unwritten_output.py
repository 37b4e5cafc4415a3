"""A new tensor that is returned without being written.

Freed memory may still hold the output of other code.  A tensor of no elements is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.outputs import untouched_outputs
from engine.static.findings import hint

STRICT = "Every element of the output is written by a kernel."
CATCHES = (
    "import torch\ndef f(x):\n    return torch.empty_like(x)\n",
    "import torch\ndef f(x):\n    y = torch.empty(x.shape, device=x.device)\n    return y.view(-1)\n",
    "import torch\ndef f(x):\n    return x.new_empty(x.shape)\n",
    "import torch\ndef g(x):\n    return torch.empty_like(x)\ndef f(x):\n    return g(x)\n",
    "import torch\ndef f(x):\n    y = torch.empty_strided((2,), (1,))\n    n = y.numel()\n    return y\n",
    "import torch\nclass Op:\n    def run(self, x):\n        return torch.empty_like(x)\n"
    "op = Op()\ndef f(x):\n    return op.run(x)\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    sizes = [n for n in y.shape]\n    return y\n",
)
SPARES = (
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    g = dict(x=x, y=y)\n    k[(1,)](**g)\n    return y\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    for a, b in zip(x.unbind(0), y.unbind(0)):\n"
    "        k[(1,)](a, b)\n    return y\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    def run(out=y, *, a=x):\n        k[(1,)](a, out)\n"
    "    run()\n    return y\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    if y.numel() == 0:\n        return y\n"
    "    k[(1,)](x, y)\n    return y\n",
    "import torch\ndef f(x):\n    if x.numel() == 0:\n        return torch.empty_like(x)\n    return launch(x)\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    launch(x, y)\n    return y\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    y[:] = 3\n    return y\n",
    "import torch\ndef allocate(n):\n    return torch.empty(n)\ndef f(x):\n    y = allocate(3)\n"
    "    k[(1,)](x, y)\n    return y\n",
    "import torch\ndef f(x):\n    return torch.empty(0)\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    described = [Descriptor(t, t.shape) for t in (x, y)]\n"
    "    k[(1,)](*described)\n    return y\n",
    "import torch\nclass Pool:\n    def take(self, n):\n        held = torch.empty(2 * n)\n        return held[:n]\n"
    "pool = Pool()\ndef f(x):\n    y = pool.take(3)\n    k[(1,)](x, y)\n    return y\n",
    "import torch, triton\ndef allocate(size, alignment, stream):\n    return torch.empty(size, device='cuda')\n"
    "triton.set_allocator(allocate)\ndef f(x):\n    return launch(x)\n",
)
_EMPTY = frozenset({"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every return of an empty tensor that nothing was written to."""
    for value, made in untouched_outputs(reading, _EMPTY):
        if not _has_no_elements(reading, made):
            yield hint("unwritten_output", value, "uninitialized tensor returned: nothing was written to it")


def _has_no_elements(reading: Reading, made: ast.Call) -> bool:
    return bool(made.args) and 0 in (reading.names.value(made.args[0]), *_sizes(reading, made.args[0]))


def _sizes(reading: Reading, shape: ast.expr) -> list[object]:
    return [reading.names.value(item) for item in shape.elts] if isinstance(shape, ast.Tuple | ast.List) else []
