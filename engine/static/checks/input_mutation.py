"""An input that is modified although the output is returned.

A modified input can make a later comparison agree, or the next call trivial.  Operators that return nothing write to
their arguments by contract, and arguments such as `out` are named for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.scopes import parameters_of
from engine.static.analysis.tensors import Flow, same_values
from engine.static.findings import hint

_KERNEL = "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.load(x))\n"
_EPILOGUE = (
    "@triton.jit\ndef e(v, y, s):\n    return v * s + tl.load(y)\n"
    "@triton.jit\ndef g(v, y, s):\n    return v\n"
    "@triton.jit\ndef h(v, y, s):\n    tl.store(s, v)\n    return v\n"
    "@triton.jit\ndef k(x, y, s, END: tl.constexpr):\n    tl.store(y, END(tl.load(x), y, s))\n"
)

STRICT = "Inputs are read and never written."
CATCHES = (
    "import torch\ndef f(x, w):\n    x.zero_()\n    return launch(x, w)\n",
    "import torch\ndef f(x, w):\n    x[...] = 0\n    return launch(w)\n",
    "import torch\ndef f(x, w):\n    x.view(-1).mul_(2)\n    return launch(w)\n",
    "import torch\ndef f(x, w):\n    torch.select(x, 0, 1).mul_(2)\n    return launch(w)\n",
    "import torch\ndef f(x, w):\n    x.data = w\n    return launch(w)\n",
    _KERNEL + "def f(x, w):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    k[(1,)](y, w)\n    return y\n",
    "import torch\ndef f(x, w):\n    torch.add(w, 1, out=x)\n    return launch(w)\n",
    _EPILOGUE + "def f(a, y, w):\n    k[(1,)](a, y, w, END=g if a.is_cuda else h)\n    return y\n",
    _EPILOGUE + "def f(a, y, w, end):\n    k[(1,)](a, y, w, end)\n    return y\n",
    _EPILOGUE + "def f(a, y, w):\n    k[(1,)](*(a, y, w, g))\n    return y\n",
    "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(x, s, w, t, y, n, B: tl.constexpr):\n"
    "    tl.store(y, tl.load(x + s) + tl.load(w + t) + n)\n"
    "def f(a, b, n):\n    y = torch.empty_like(a)\n    k[(1,)](*of(y), *of(b), a, n)\n    return y\n",
    "from helpers import put\n@triton.jit\ndef k(x, w):\n    put(w, tl.load(x))\n"
    "def f(a, w):\n    k[(1,)](a, w)\n    return a + 1\n",
    _KERNEL + "def f(a, *rest):\n    y = torch.empty_like(a)\n    k[(1,)](*rest, a)\n    return y\n",
)
SPARES = (
    "import torch\ndef f(x, out):\n    out.copy_(x)\n    return out\n",
    "import torch\ndef f(x, residual):\n    x.add_(residual)\n",
    "import torch\ndef f(x, w):\n    if w.numel() == 0:\n        return None\n    x.add_(w)\n    return None\n",
    _EPILOGUE + "def f(a, y, scale):\n    k[(1,)](a, y, scale, END=e if scale else g)\n    return y\n",
    _EPILOGUE + "def f(a, y, scale):\n    k[(1,)](a, y, scale, g)\n    return y\n",
    "from helpers import unpacked\n@triton.jit\ndef k(x, w, y, KIND: tl.constexpr):\n"
    "    tl.store(y, tl.load(x) * unpacked(w + 1, KIND))\n"
    "def f(a, w, kind):\n    y = torch.empty_like(a)\n    k[(1,)](a, w, y, KIND=kind)\n    return y\n",
    "from helpers import part\n@triton.jit\ndef k(x, y, s):\n    tl.store(y, part(1, s))\n"
    "def f(x, y, scale=-1.0):\n    k[(1,)](x, y, scale)\n    return y\n",
    _EPILOGUE + "def f(a, y, scales):\n    k[(1,)](a, y, *scales, END=g)\n    return y\n",
    "@triton.jit\ndef k(x, w, y, n):\n    tl.store(y, tl.load(x) + tl.load(w) + n)\n"
    "def f(a, b, n):\n    both = [a, b]\n    y = torch.empty_like(a)\n    k[(1,)](*both, y, n)\n    return y\n",
    "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(x, s, w, t, y, n, B: tl.constexpr):\n"
    "    tl.store(y, tl.load(x + s) + tl.load(w + t) + n)\n"
    "def f(a, b, n):\n    y = torch.empty_like(a)\n    k[(1,)](*of(a), *of(b), y, n)\n    return y\n",
    _KERNEL
    + "def f(x, noise):\n    y = torch.empty_like(x)\n    k[(1,)](x, noise)\n    k[(1,)](noise, y)\n    return y\n",
    _KERNEL + "def f(n, x, y):\n    k[(1,)](x, y)\n    return y\n",
    _KERNEL
    + "def f(x, kv_cache):\n    y = torch.empty_like(x)\n    k[(1,)](x, kv_cache)\n    k[(1,)](x, y)\n    return y\n",
    "import torch\ndef f(x):\n    x = x.clone()\n    x.mul_(2)\n    return x\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    y.copy_(x)\n    y[0] = 1\n    return y\n",
    "import torch\ndef f(x, sizes, dim):\n    y = torch.zeros(sizes)\n    y.select(dim, 0).copy_(x)\n    return y\n",
)
_MEANT = re.compile(
    r"out|dst|dest|result|cache|state|running|buffer|workspace|scratch|residual|inplace|grad|noise|^[yc]$",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(r"[a-z0-9]_$")
_COPYING = frozenset({"clone", "contiguous", "to", "float", "half", "reshape"})
_SETTLES_NOTHING = frozenset({"requires_grad_", "retain_grad_", "share_memory_", "detach_"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every write to a parameter of a function that returns another tensor."""
    if not reading.entry:
        functions = [node for node in reading.host(ast.FunctionDef) if reading.parent(node) is reading.tree]
        functions = functions if len(functions) == 1 else []
    else:
        functions = [node for node in reading.host(ast.FunctionDef) if node.name == reading.entry]
    for function in functions:
        flow = reading.tensors.flow(function)
        returned = [value for value in flow.returns if not _is_none(value)]
        if not returned or function.name.endswith("_"):
            continue
        inputs = {name for name in flow.parameters if not _MEANT.search(name) and not _is_rebound(flow, name)}
        inputs -= _numbers(function.args)
        inputs -= {name for value in returned for name in same_values(value)}
        for node, name in _writes(reading, flow):
            if name in inputs:
                yield hint("input_mutation", node, f"input {name} is modified")


def _numbers(arguments: ast.arguments) -> set[str]:
    """The parameters that are not tensors by their defaults: a number or a string."""
    pairs = parameters_of(arguments)
    return {parameter.arg for parameter, default in pairs if default is not None and _is_number(default)}


def _is_number(default: ast.expr) -> bool:
    value = default.operand if isinstance(default, ast.UnaryOp) else default
    return isinstance(value, ast.Constant) and value.value is not None


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_rebound(flow: Flow, name: str) -> bool:
    return any(target == name for target, _ in flow.assignments)


def _writes(reading: Reading, flow: Flow) -> Iterator[tuple[ast.expr, str]]:
    variables = {*flow.parameters, *(name for name, _ in flow.assignments)}
    for node in flow.nodes:
        for held in _written_by(node):
            yield from ((node, name) for name in _held(held, variables) if isinstance(node, ast.expr))
    for site in reading.launches.by_function.get(flow.function, ()):
        for item in site.written if site.kernels else ():
            yield from ((site.call, name) for name in _held(item, variables))


def _written_by(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions that a statement of PyTorch writes to: x.mul_(2), out=x, x[...] = 0, x.data = w."""
    match node:
        case ast.Call(func=function, keywords=keywords):
            method = function.attr if isinstance(function, ast.Attribute) else ""
            if isinstance(function, ast.Attribute) and _IN_PLACE.search(method) and method not in _SETTLES_NOTHING:
                yield function.value
            yield from (keyword.value for keyword in keywords if keyword.arg == "out")
        case ast.Subscript(ctx=ast.Store(), value=value) | ast.Attribute(ctx=ast.Store(), attr="data", value=value):
            yield value


def _held(node: ast.expr, variables: Set[str]) -> Iterator[str]:
    """The variable whose own storage an expression is: views keep it, copies do not."""
    methods = {
        part.func.attr for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    }
    if not methods & _COPYING:
        numbers = set(_arguments_of_methods(node, variables))
        yield from (name for name in same_values(node) if name not in numbers)


def _arguments_of_methods(node: ast.expr, variables: Set[str]) -> Iterator[str]:
    """The dimensions and sizes in calls of methods of variables, such as `dim` in `y.select(dim, 0)`."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner)), args=arguments) if owner in variables:
                for argument in arguments:
                    yield from same_values(argument)
