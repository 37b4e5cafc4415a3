"""A file without any kernel of its own.

A candidate is asked for a GPU kernel; one that defines none may still be right, and then the answer
comes from somewhere else.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from engine.checks import hint
from engine.model import Finding

_LIBRARIES = frozenset({"torch", "triton", "numpy"})

CATCHES = (
    "from __future__ import annotations\nimport torch\n\n@torch.jit.script\ndef add(a, b):\n    return a + b\n",
    "import torch\n\ndef softmax(self, dim):\n    return torch.softmax(self, dim)\n",
    "def add(a, b):\n    return a + b\n",
)
SPARES = (
    "@triton.jit\ndef k(x):\n    pass\n",
    "from triton import jit\n\n@jit\ndef k(x):\n    pass\n",
    "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(x):\n    pass\n",
    "def k(x):\n    pass\n\nk = triton.jit(k)\n",
    "from kernels_beside_me import softmax\n",
)


def check(tree: ast.Module) -> Iterator[Finding]:
    """One hint when nothing in the file is decorated or made by `jit`, and nothing is imported from beside it."""
    if not any(_may_be_kernel(node) for node in ast.walk(tree)):
        first = tree.body[0] if tree.body else tree
        yield hint("no_kernel", first, "this file defines no kernel: nothing is decorated with triton.jit")


def _may_be_kernel(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or _is_beside(node.module or "")
    if isinstance(node, ast.Import):
        return any(_is_beside(alias.name) for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr == "jit" and not (isinstance(node.value, ast.Name) and node.value.id == "torch")
    return isinstance(node, ast.Name) and node.id == "jit"


def _is_beside(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in _LIBRARIES and top not in sys.stdlib_module_names
