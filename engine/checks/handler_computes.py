"""A handler that computes the answer another way.

If the kernel does not compile, the handler calls something else, and a kernel that never ran is
judged in its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.checks import hint
from engine.model import Finding

CATCHES = (
    "try:\n    y = kernel(x)\nexcept Exception:\n    y = torch.softmax(x, -1)\n",
    "def f(x):\n    try:\n        return kernel(x)\n    except:\n        return x.softmax(-1)\n",
)
SPARES = (
    "try:\n    import tma\nexcept ImportError:\n    tma = None\n",
    "try:\n    f(x)\nexcept ValueError as error:\n    raise TypeError from error\n",
    "try:\n    f(x)\nexcept KeyError:\n    log.append(x)\n",
)


def check(tree: ast.Module) -> Iterator[Finding]:
    """A hint for every handler that assigns or returns the result of a call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and any(map(_computes, node.body)):
            yield hint(
                "handler_computes", node, "this handler computes an answer; if the kernel fails, let the run fail"
            )


def _computes(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign | ast.Return):
        return False
    return any(isinstance(part, ast.Call) for part in ast.walk(statement))
