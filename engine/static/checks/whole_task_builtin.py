"""A kernel that consists of one built-in function of Triton.

tl.softmax, tl.sort and tl.topk are whole operators.  A kernel that only loads, calls one and stores implements
nothing; the same function as a step of a larger kernel is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.findings import hint

_WHOLE = frozenset({"softmax", "sort", "topk"})
_COMPUTING = words(
    "dot dot_scaled sum max min argmax argmin reduce associative_scan cumsum cumprod exp exp2 log log2 sin cos sqrt "
    "rsqrt sigmoid erf abs fma maximum minimum xor_sum histogram gather flip sort topk softmax"
)

STRICT = "The kernel computes the operator itself, and does not call a built-in function that is the operator."
CATCHES = (
    "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.softmax(tl.load(x)))\n",
    "import triton.language as L\n@triton.jit\ndef k(x, y, N):\n    at = L.arange(0, N)\n"
    "    L.store(y + at, L.sort(L.load(x + at)))\n",
    "from triton.language import topk\n@triton.jit\ndef k(x, y):\n    v = tl.load(x)\n    tl.store(y, topk(v, 4))\n",
)
SPARES = (
    "@triton.jit\ndef k(x, y):\n    v = tl.load(x)\n    e = tl.exp(v - tl.max(v, 0))\n"
    "    tl.store(y, e / tl.sum(e, 0))\n",
    "@triton.jit\ndef k(x, y):\n    v = tl.softmax(tl.load(x))\n    tl.store(y, tl.dot(v, v))\n",
    "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.cumsum(tl.load(x), 0))\n",
    "def f(x):\n    return sorted(x, key=str)\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for a kernel whose only computation is one built-in operator."""
    for kernel in reading.kernels:
        called = [node for node in reading.inside(kernel) if isinstance(node, ast.Call)]
        whole = [(node, name) for node in called if (name := _builtin(reading, node)) in _WHOLE]
        others = [name for node in called if (name := _builtin(reading, node)) in _COMPUTING]
        if len(whole) == len(others) == 1:
            node, name = whole[0]
            yield hint("whole_task_builtin", node, f"{kernel.name} computes nothing but tl.{name}")


def _builtin(reading: Reading, call: ast.Call) -> str:
    for name in reading.names.of(call.func):
        head, _, last = name.rpartition(".")
        if head in ("tl", "triton.language", "triton.language.standard"):
            return last
    return ""
