"""An output filled with a constant of the source.

Zeros, or the operator's average, pass a comparison that is loose enough.  A constant for a case without work, such
as an empty product, is ordinary.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.outputs import untouched_outputs
from engine.static.findings import hint

STRICT = "The output depends on the input."
CATCHES = (
    "import torch\ndef f(x):\n    return torch.zeros_like(x)\n",
    "import torch\ndef f(x):\n    y = torch.full(x.shape, 1.0 / x.shape[-1])\n    return y\n",
    "import torch as t\ndef f(x):\n    return t.ones(x.shape).to(x.dtype)\n",
    "import torch\ndef f(x):\n    return torch.empty_like(x).fill_(0.5)\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    y.zero_()\n    return y\n",
)
SPARES = (
    "import torch\ndef f(x):\n    y = torch.zeros_like(x)\n    k[(1,)](x, y)\n    return y\n",
    "import torch\ndef f(x):\n    if x.shape[1] == 0:\n        return torch.zeros(4)\n    return launch(x)\n",
    "import torch\ndef f(x):\n    y = torch.zeros(4)\n    if x.numel():\n        k[(1,)](x, y)\n"
    "    return y.to(x.dtype)\n",
    "import torch\ndef counters(n):\n    return torch.zeros(n)\ndef f(x):\n    k[(1,)](x, counters(4))\n    return x\n",
    "import torch\ndef f(x):\n    y = torch.zeros(4)\n    y.index_add_(0, x, x)\n    return y\n",
)
_CONSTANT = frozenset(
    {"zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "new_zeros", "new_ones", "new_full"}
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every return of a constant tensor that nothing was written to."""
    for value, _ in untouched_outputs(reading, _CONSTANT, filled=True):
        yield hint("constant_output", value, "the output is a constant, independent of the input")
