"""An exception handler that computes the output another way.

If the kernel does not compile, the handler calls something else, and the kernel itself is never verified.  Handlers
of missing imports, devices and attributes are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.tensors import Origin
from engine.static.analysis.vocabulary import PLAIN, Weight, weight_of, weight_of_method
from engine.static.findings import hint

STRICT = "No fallback: where the kernel fails, the run fails."
CATCHES = (
    "try:\n    y = kernel(x)\nexcept Exception:\n    y = torch.softmax(x, -1)\n",
    "def f(x):\n    try:\n        return kernel(x)\n    except:\n        return x.softmax(-1)\n",
    "def f(x):\n    try:\n        return launch(x)\n    except RuntimeError:\n        return reference(x)\n",
    "import torch\ndef f(x, y):\n    try:\n        k[(1,)](x, y)\n    except Exception as e:\n"
    "        y.copy_(torch.exp(x))\n",
    "def f(x, w):\n    try:\n        y = launch(x, w)\n    except Exception:\n        if x.is_cuda:\n"
    "            y = x @ w\n"
    "    return y\n",
    "class Plain:\n    def view(self, x):\n        return slow(x)\n"
    "def f(x, plain):\n    try:\n        return kernel(x)\n    except RuntimeError:\n        return plain.view(x)\n",
)
SPARES = (
    "try:\n    import tma\nexcept ImportError:\n    tma = None\n",
    "try:\n    f(x)\nexcept ValueError as error:\n    raise TypeError from error\n",
    "try:\n    f(x)\nexcept KeyError:\n    log.append(x)\n",
    "def plan(key):\n    try:\n        return PLANS[key]\n    except KeyError:\n"
    "        return PLANS.setdefault(key, make(key))\n",
    "try:\n    sms = torch.cuda.get_device_properties(0).multi_processor_count\nexcept Exception:\n"
    "    sms = int('108')\n",
    "try:\n    from triton.language.extra import libdevice\nexcept ImportError:\n    libdevice = fallback()\n",
    "def f(n, pool):\n    try:\n        return Lease(pool, torch.empty(n))\n    except torch.OutOfMemoryError:\n"
    "        pool.clear()\n        return Lease(pool, torch.empty(n))\n",
    "def f(x, y):\n    try:\n        k[(1,)](x, y)\n    except triton.runtime.errors.OutOfResources:\n"
    "        k[(2,)](x, y)\n",
    "def f(x, n):\n    rows = x.permute(1, 0)\n    try:\n        rows = rows.view(n, -1)\n    except RuntimeError:\n"
    "        rows = rows.contiguous().view(n, -1)\n    return launch(rows)\n",
)
_ASKING = frozenset({"ImportError", "ModuleNotFoundError", "KeyError", "AttributeError", "StopIteration", "IndexError"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every handler whose result replaces that of the kernel."""
    for node in reading.host(ast.ExceptHandler):
        if not _only_asks(node) and any(_computes(reading, statement) for statement in _statements(node.body)):
            yield hint("handler_computes", node, "exception handler computes the output (fallback)")


def _only_asks(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(kind is not None and ast.unparse(kind).rpartition(".")[2] in _ASKING for kind in kinds)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.With | ast.For | ast.While | ast.Try):
            yield from _statements(statement.body)
            yield from _statements(getattr(statement, "orelse", []))


def _computes(reading: Reading, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.Return | ast.Expr) or statement.value is None:
        return False
    parts = [part for part in ast.walk(statement.value) if isinstance(part, ast.Call | ast.BinOp)]
    if any(_is_operator(reading, part) for part in parts):
        return True
    if isinstance(statement, ast.Expr):
        return False
    return any(_calls_the_unknown(reading, part) for part in parts if _takes_what_was_tried(reading, statement, part))


def _is_operator(reading: Reading, part: ast.Call | ast.BinOp) -> bool:
    if isinstance(part, ast.BinOp):
        return isinstance(part.op, ast.MatMult)
    if any(weight_of(name) for name in reading.names.of(part.func)):
        return True
    method = reading.names.attribute(part.func)
    weight = weight_of_method(method[1]) if method is not None else None
    if method is None or weight is None:
        return False
    return weight is not Weight.LIGHT or reading.tensors.origin(method[0]) is not Origin.UNKNOWN


def _takes_what_was_tried(reading: Reading, statement: ast.stmt, part: ast.expr) -> bool:
    """Whether the call gets a variable that the tried code also passes to a call: the same input, another way."""
    attempt = next((above for above in reading.ancestors(statement) if isinstance(above, ast.Try)), None)
    if attempt is None or not isinstance(part, ast.Call):
        return False
    if ast.unparse(part.func) in {ast.unparse(call.func) for tried in attempt.body for call in _calls(tried)}:
        return False  # a retry of the same call, with other settings or after freeing memory
    tried = {name for tried in attempt.body for name in _given(tried)}
    return bool(tried & set(_given(part)))


def _given(node: ast.AST) -> Iterator[str]:
    for call in _calls(node):
        yield from (item.id for item in call.args if isinstance(item, ast.Name))


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Call))


def _calls_the_unknown(reading: Reading, part: ast.expr) -> bool:
    """A call that may compute anything: a function of the file or of another module, and no launch."""
    if not isinstance(part, ast.Call) or reading.launches.is_launch(part):
        return False
    names = reading.names.of(part.func)
    if any(name.startswith("builtins.") or name.rpartition(".")[2] in PLAIN for name in names):
        return False
    if not names and isinstance(part.func, ast.Attribute) and part.func.attr in PLAIN:
        return any(node.name == part.func.attr for node in reading.all(ast.FunctionDef))
    launching = reading.launches.launching
    return not any(function in launching for function in reading.definitions(part.func))
