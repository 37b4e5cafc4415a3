"""A kernel that is defined and never launched.

The file has a kernel, and the output comes from elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.findings import hint

_OF_TRITON = frozenset({"jit", "autotune", "heuristics"})
_KERNEL = "import torch, triton\n@triton.jit\ndef k(x, y):\n    pass\n"

STRICT = "Every kernel that the file defines is launched by the entry."
CATCHES = (
    _KERNEL + "def f(x):\n    return torch.relu(x)\n",
    _KERNEL + "def f(x):\n    return x\nif __name__ == '__main__':\n    k[(1,)](1, 2)\n",
    "import triton as t\n@t.autotune(configs=[], key=[])\n@t.jit\ndef k(x):\n    pass\ndef f(x):\n"
    "    return x.relu()\n",
)
SPARES = (
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    return y\n",
    _KERNEL + "def launch(kernel, x):\n    kernel[(1,)](x, x)\ndef f(x):\n    launch(k, x)\n    return x\n",
    _KERNEL + "KERNELS = {'k': k}\ndef f(x, name):\n    KERNELS[name][(1,)](x, x)\n    return x\n",
    _KERNEL + "def f(x):\n    '''Not written.'''\n    raise NotImplementedError('f is not written yet')\n",
    "import triton\nKERNELS = {}\ndef register(kernel):\n    KERNELS[0] = kernel\n@register\n@triton.jit\n"
    "def k(x):\n    pass\ndef f(x):\n    KERNELS[0][(1,)](x)\n    return x\n",
    "@triton.jit\ndef k(x):\n    pass\n",
    _KERNEL + "def f(x): ...\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """One hint if the file has kernels and host code, and the host code mentions none of the kernels."""
    functions = [node for node in reading.host(ast.FunctionDef) if node not in reading.kernels and _is_written(node)]
    if not reading.kernels or not functions or any(map(_is_passed_on, reading.kernels)):
        return
    names = {kernel.name for kernel in reading.kernels}
    mentioned = {node.id for node in reading.host(ast.Name)} | {node.attr for node in reading.host(ast.Attribute)}
    asked_by_name = {node.value for node in reading.host(ast.Constant) if isinstance(node.value, str)}
    if not names & (mentioned | asked_by_name):
        first = min(reading.kernels, key=lambda kernel: kernel.lineno)
        yield hint("kernel_never_launched", first, f"neither {first.name} nor another kernel is ever launched")


def _is_passed_on(kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator that is none of Triton's gets the kernel, as one that keeps it in a table does."""
    called = (each.func if isinstance(each, ast.Call) else each for each in kernel.decorator_list)
    return any(ast.unparse(decorator).rpartition(".")[2] not in _OF_TRITON for decorator in called)


def _is_written(function: ast.FunctionDef) -> bool:
    says = [
        node for node in function.body if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant)
    ]
    return bool(says) and not isinstance(says[-1], ast.Raise | ast.Pass)
