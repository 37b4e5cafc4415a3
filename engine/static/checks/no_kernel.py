"""A file that defines no kernel.

A candidate that defines no kernel may still be correct; then the output comes from elsewhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.findings import hint

_LIBRARIES = frozenset({"torch", "triton", "numpy"})

STRICT = "The output is computed by a kernel that the file itself defines."
CATCHES = (
    "from __future__ import annotations\nimport torch\n\n@torch.jit.script\ndef add(a, b):\n    return a + b\n",
    "import torch\n\ndef softmax(self, dim):\n    return torch.softmax(self, dim)\n",
    "def add(a, b):\n    return a + b\n",
    "from torch import jit\n\n@jit.script\ndef add(a, b):\n    return a + b\n",
    "import torch as t\n\n@t.jit.script\ndef add(a, b):\n    return a + b\n",
)
SPARES = (
    "@triton.jit\ndef k(x):\n    pass\n",
    "from triton import jit\n\n@jit\ndef k(x):\n    pass\n",
    "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(x):\n    pass\n",
    "def k(x):\n    pass\n\nk = triton.jit(k)\n",
    "from kernels_beside_me import softmax\n",
    "SOURCE = '__global__ void k(float* x) { x[0] = 1; }'\ndef f(x):\n    return build(SOURCE)(x)\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """One hint when the file uses no `jit` but torch's, has no kernel source and imports nothing from beside it."""
    if reading.kernels or _imports_from_beside(reading) or _makes_a_kernel(reading) or _holds_source(reading):
        return
    first = reading.tree.body[0] if reading.tree.body else reading.tree
    yield hint("no_kernel", first, "no kernel defined: nothing is decorated with triton.jit")


def _makes_a_kernel(reading: Reading) -> bool:
    nodes: list[ast.expr] = [node for node in reading.all(ast.Attribute) if node.attr == "jit"]
    nodes += [node for node in reading.all(ast.Name) if node.id == "jit"]
    return any(not name.startswith("torch.") for node in nodes for name in reading.names.of(node))


def _holds_source(reading: Reading) -> bool:
    """Whether a string of the file is the source of a kernel that it compiles."""
    documentation = set(reading.docstrings())
    strings = (node for node in reading.all(ast.Constant) if isinstance(node.value, str) and node not in documentation)
    return any("__global__" in str(node.value) or "@triton.jit" in str(node.value) for node in strings)


def _imports_from_beside(reading: Reading) -> bool:
    if any(node.level > 0 or _is_beside(node.module or "") for node in reading.all(ast.ImportFrom)):
        return True
    return any(_is_beside(alias.name) for node in reading.all(ast.Import) for alias in node.names)


def _is_beside(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in _LIBRARIES and top not in sys.stdlib_module_names
