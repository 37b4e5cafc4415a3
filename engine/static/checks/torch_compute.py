"""PyTorch's own operators in the code that the entry runs.

The answer, or the expensive part of it, then comes from a library and not from a kernel of the file.  Code that
only allocates, views, casts, pads or prepares sizes and scales is not reported, nor is arithmetic whose result
never becomes the answer.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.answers import becomes_the_answer
from engine.static.analysis.device_conditions import runs_on_a_gpu, runs_without_a_gpu
from engine.static.analysis.gradients import computes_gradients
from engine.static.analysis.tensors import Origin
from engine.static.analysis.vocabulary import DISTINCT_METHODS, Weight, weight_of, weight_of_method
from engine.static.findings import hint

_MOST_NUMBERS = 1024  # in a table whose arithmetic is not a part of the answer
_UNVERIFIED = ": a GPU alone runs it, so a run on the CPU does not verify it"
_LAUNCH = "import torch, triton\n@triton.jit\ndef k(x, y):\n    tl.store(y, 0)\n"

STRICT = "PyTorch allocates, views and moves; it computes no part of the output."
CATCHES = (
    _LAUNCH
    + "def twice(x: torch.Tensor):\n    return x * 2\ndef f(x: torch.Tensor):\n    y = twice(x)\n    return y\n",
    _LAUNCH + "def twice(x: torch.Tensor):\n    return x * 2\ndef f(x: torch.Tensor):\n    h = twice(x)\n"
    "    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    y.copy_(h)\n    return y\n",
    _LAUNCH + "def twice(x: torch.Tensor):\n    return x * 2\ndef g(x):\n    return twice(x)\n"
    "def f(x: torch.Tensor):\n    return g(x)\n",
    "import torch\ndef f(x):\n    if x.is_cuda:\n        return torch.softmax(x, -1)\n    return launch(x)\n",
    "import torch\ndef f(x):\n    if not x.is_cuda or x.numel() < 9:\n        return torch.softmax(x, -1)\n"
    "    return launch(x)\n",
    "import torch as t\ndef f(x, w):\n    return t.matmul(x, w)\n",
    "from torch.nn import functional as G\ndef f(x):\n    return G.softmax(x, -1)\n",
    "import torch\nF = torch.nn.functional\nact = F.silu\ndef f(x):\n    return act(x)\n",
    "import torch\ndef f(x, w):\n    return getattr(torch, 'mat' + 'mul')(x, w)\n",
    "import torch\ndef f(x, w):\n    return torch.__dict__['m' 'm'](x, w)\n",
    "import torch\ndef f(x, w):\n    return vars(torch)[chr(109) * 2](x, w)\n",
    "import importlib\ndef f(x):\n    return importlib.import_module('torch.nn.functional').gelu(x)\n",
    "def f(x):\n    return __import__('torch').nn.functional.relu(x)\n",
    "def f(x, w):\n    return x @ w\n",
    "def f(x, w):\n    return x.matmul(w)\n",
    "def f(x):\n    return getattr(x, 'xamtfos'[::-1])(-1)\n",
    "import torch\ndef f(x):\n    return torch._C._nn.gelu(x)\n",
    "import torch\ndef f(x, w):\n    return torch.ops.aten.mm.default(x, w)\n",
    "from torch import _VF\ndef f(x, w):\n    return _VF.mm(x, w)\n",
    "import operator\ndef f(x, w):\n    return operator.matmul(x, w)\n",
    "import torch\nfrom functools import partial\nop = partial(torch.softmax, dim=-1)\ndef f(x):\n    return op(x)\n",
    "import torch\ndef f(x):\n    return torch.Tensor.cumsum(x, 0)\n",
    "import torch\nclass M(torch.nn.Module):\n    def backward(self, x, w):\n        return x @ w\n"
    "    forward = backward\n",
    "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        self.fc = torch.nn.Linear(4, 4)\n"
    "    def forward(self, x):\n        return self.fc(x)\n",
    _LAUNCH + "def f(x, w):\n    h = torch.mm(x, w)\n    y = torch.empty_like(h)\n    k[(1,)](h, y)\n    return y\n",
    "import torch\ndef f(x, y):\n    torch.add(x, 1, out=y)\n    z = torch.mul(x.contiguous(), 2)\n    return z\n",
    "import torch\ndef f(x: torch.Tensor):\n    y = x * 2\n    return y.to(torch.float16)\n",
    "import torch\ndef f(x: torch.Tensor):\n    y = torch.empty_like(x)\n    y.copy_(x.abs())\n    return y\n",
    "import torch\nOPS = {'mm': torch.mm}\ndef f(x, w):\n    return OPS['mm'](x, w)\n",
    "import sys, torch\ndef f(x, w):\n    return sys.modules['torch'].bmm(x, w)\n",
    "from torch import *\ndef f(x):\n    return softmax(x, -1)\n",
    "import torch\ndef f(x, op=torch.cumsum):\n    return op(x, 0)\n",
    "import torch\ndef f(x):\n    return list(map(torch.sigmoid, [x]))[0]\n",
    _LAUNCH + "def f(x: torch.Tensor):\n    part = torch.empty(8)\n    k[(1,)](x, part)\n    total = part.sum()\n"
    "    return total * x\n",
    _LAUNCH + "def f(x: torch.Tensor):\n    part = torch.empty(8)\n    k[(1,)](x, part)\n    part = part * 2\n"
    "    return part\n",
    "import torch\ndef b(ctx, g):\n    return g @ g\nop.register_autograd(b)\ndef f(x):\n    return b(None, x)\n",
    "import torch\ndef b(ctx, g):\n    return g @ g\nop.register_kernel('cpu', b)\ndef f(x):\n    return op(x)\n",
    "import torch\ndef f(x: torch.Tensor):\n    return torch.tensor([1, 2]) * x\n",
    "import torch\ndef s(ctx, inputs, output):\n    output.copy_(torch.softmax(inputs[0], -1))\n"
    "op.register_autograd(lambda ctx, g: g, setup_context=s)\ndef f(x):\n    return op(x)\n",
)
SPARES = (
    _LAUNCH + "def steps(i: torch.Tensor):\n    return i * 4\ndef at(i):\n    return steps(i)\n"
    "def f(x, i: torch.Tensor):\n    y = torch.empty_like(x)\n    j = at(i)\n    k[(1,)](x, j, y)\n    return y\n",
    _LAUNCH + "def at(i: torch.Tensor, n):\n    j = torch.where(i < 0, i + n, i)\n    return j * 4\n"
    "def f(x, i: torch.Tensor):\n    y = torch.empty_like(x)\n    j = at(i, 9)\n    k[(1,)](x, j, y)\n    return y\n",
    _LAUNCH + "def ends(i: torch.Tensor):\n    j = i + 1\n    return j\ndef f(x, i: torch.Tensor):\n    j = ends(i)\n"
    "    y = torch.empty(j.shape)\n    k[(j.numel(),)](x, j.contiguous(), y)\n    return y\n",
    _LAUNCH + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x.flip(-1), y)\n    return y.flip(-1)\n",
    _LAUNCH + "def f(x):\n    if not x.is_cuda:\n        return torch.softmax(x, -1)\n    y = torch.empty_like(x)\n"
    "    k[(1,)](x, y)\n    return y\n",
    _LAUNCH + "def f(x):\n    y = torch.empty_like(x)\n    if x.device.type == 'cuda':\n        k[(1,)](x, y)\n"
    "    else:\n        y = torch.softmax(x, -1)\n    return y\n",
    _LAUNCH + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x.contiguous(), y)\n    return y.view(x.shape)\n",
    _LAUNCH + "def f(x):\n    x = torch.nn.functional.pad(x, (0, 3))\n    y = torch.empty(x.shape)\n"
    "    k[(1,)](x, y)\n    return y\n",
    _LAUNCH + "def f(x, starts):\n    n = (starts[1:] - starts[:-1]).max().item()\n    y = torch.empty(n)\n"
    "    k[(n,)](x, y)\n    return y\n",
    _LAUNCH + "def f(x):\n    y = x.to(torch.float32).movedim(0, -1)\n    k[(1,)](x, y)\n    return y.half()\n",
    _LAUNCH + "def f(x):\n    scale = x.abs().amax() / 448.0\n    y = torch.empty_like(x)\n"
    "    k[(1,)](x, y, scale)\n    return y\n",
    _LAUNCH + "def f(x):\n    t = torch.arange(8).float()\n    k[(1,)](x, torch.cos(t), torch.sin(t))\n    return x\n",
    "import torch\ndef f(x):\n    return x\ndef reference(x):\n    return torch.softmax(x, -1)\n"
    "if __name__ == '__main__':\n    print((f(1) - reference(1)).abs().max())\n    torch.mm(1, 2)\n",
    _LAUNCH + "def f(x):\n    part = torch.empty(8, 4)\n    k[(1,)](x, part)\n    return part.sum(0)\n",
    _LAUNCH + "def f(x):\n    part = torch.empty(8)\n    k[(1,)](x, part)\n    total = part.sum()\n"
    "    total = total / x.numel() if x.numel() else total * float('nan')\n    return total.to(x.dtype)\n",
    _LAUNCH + "def f(x):\n    part = torch.empty(8)\n    k[(1,)](x, part)\n    return part.sum().float() / x.numel()\n",
    "def f(n, m):\n    return n * m + sum(range(n)) + max(n, m)\n",
    "import math\ndef f(x):\n    x.seen = math.exp(2) + math.prod((2, 3))\n    return x\n",
    "import torch\nKINDS = {torch.float16: 'fp16'}\ndef f(x):\n    return KINDS[x.dtype], torch.result_type(x, x)\n",
    "names = {'a'}\ndef f(name):\n    names.add(name)\n    return sorted(names)\n",
    "import triton.language as tl\n@triton.jit\ndef k(x, w):\n    return tl.dot(x, w).to(tl.float32).sum()\n",
    "import numpy as np\ndef f(x):\n    n = np.prod(x.shape)\n    return launch(x, int(np.log2(n)))\n",
    "import torch\ndef f(x):\n    return torch.cat([x.flatten(), x.flatten()]).reshape(2, -1)\n",
    "import torch\ndef f(x):\n    return torch.broadcast_tensors(x, x)[0].expand(4, 4).unsqueeze(0)\n",
    "import torch\ndef f(x):\n    assert x.is_cuda and x.dtype == torch.float16 and x.shape[0] % 16 == 0\n"
    "    return launch(x)\n",
    "import torch\ndef f(x):\n    with torch.cuda.device(x.device):\n        return launch(x)\n",
    "import torch\ndef f(x):\n    if (x < 0).any():\n        raise ValueError('negative')\n    return launch(x)\n",
    "import torch\nSEED = torch.randint(0, 9, (1,))\ndef f(x):\n    return launch(x, SEED.item())\n",
    "import torch\ng = torch.cuda.CUDAGraph()\ndef f(x):\n    STATIC.copy_(x)\n    g.replay()\n"
    "    return OUT.clone()\n",
    "def f(x):\n    order = []\n    order.sort()\n    order.index(x)\n    return {**{}}.get('sum')\n",
    "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n"
    "        self.weight = torch.nn.Parameter(torch.ones(4))\n"
    "    def forward(self, x):\n        return launch(x, self.weight)\n",
    _LAUNCH + "class F(torch.autograd.Function):\n    def forward(ctx, x):\n        y = torch.empty_like(x)\n"
    "        k[(1,)](x, y)\n        return y\n    def backward(ctx, g):\n        return g @ g\n"
    "def f(x):\n    return F.apply(x)\n",
    "import torch\ndef b(ctx, g):\n    x, = ctx.saved_tensors\n    return torch.where(x > 0, g, g * x)\n"
    "def s(ctx, inputs, output):\n    ctx.save_for_backward(torch.softmax(inputs[0], -1))\n"
    "op.register_autograd(b, setup_context=s)\ndef f(x):\n    return op(x)\n",
    "import torch\ndef b(ctx, g):\n    return g @ g\ntorch.library.register_autograd('n::op', b)\ndef f(x):\n"
    "    return torch.ops.n.op(x)\n",
    "import torch\nORDER = [0, 4, 1, 5]\ndef table(device):\n    return torch.tensor(ORDER, device=device) * 4\n"
    "def f(x):\n    return launch(x, table(x.device))\n",
    "import asyncio\nasync def f(x):\n    return await asyncio.gather(x)\n",
    "from itertools import product\nimport math\ndef f(x):\n    return math.log(2), list(product((1,), (2,)))\n",
    "import torch, unittest\nclass T(unittest.TestCase):\n    def test(self):\n        torch.softmax(1, 1)\n"
    "def f(x):\n    return x\n",
    "import torch\ndef f(x, dtype):\n    return torch.empty(4, dtype=getattr(torch, dtype))\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every operator of PyTorch whose result may be the answer or the expensive part of it.

    Code that runs only without a GPU is left out: a CPU cannot verify such a file, and a GPU never executes it.  So is
    code that only computes gradients, which no call of the entry runs.
    """
    places: set[tuple[int, int]] = set()
    for node, spelled in _operators(reading):
        if runs_without_a_gpu(reading, node) or computes_gradients(reading, node):
            continue
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        if place not in places:
            places.add(place)
            unverified = _UNVERIFIED if runs_on_a_gpu(reading, node) else ""
            yield hint("torch_compute", node, f"{spelled} is a PyTorch operator, not a kernel of this file{unverified}")


def _operators(reading: Reading) -> Iterator[tuple[ast.expr, str]]:
    """Operators that may compute the answer, with their spelling: names, methods, and Python's own operators."""
    for node, names in reading.uses:
        weighed = {name: weight for name in names if (weight := weight_of(name))}
        if weighed and _counts(reading, node, max(weighed.values())):
            yield node, min(weighed)
    for call in reading.host(ast.Call):
        method = reading.names.attribute(call.func)
        if method is not None:
            yield from _method(reading, call, *method)
    for operation in reading.host(ast.BinOp):
        if isinstance(operation.op, ast.MatMult):
            yield operation, "@"
        elif _is_of_tensors(reading, operation) and _counts(reading, operation, Weight.LIGHT):
            yield operation, "arithmetic on tensors"


def _is_of_tensors(reading: Reading, operation: ast.BinOp) -> bool:
    return reading.tensors.origin(operation) is not Origin.UNKNOWN and not _is_of_numbers(reading, operation)


def _is_of_numbers(reading: Reading, node: ast.expr) -> bool:
    """Whether arithmetic has numbers of the file as its only operands: a table, such as `torch.tensor([0, 4]) * 2`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_of_numbers(reading, left) and _is_of_numbers(reading, right)
        case ast.Call(args=[held, *_]) if "torch.tensor" in reading.names.of(node.func):
            numbers = reading.names.only_value(held) if isinstance(held, ast.Name) else held
            parts = list(itertools.islice(ast.walk(numbers), 2 * _MOST_NUMBERS)) if numbers is not None else []
            kinds = (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.unaryop, ast.expr_context)
            return 0 < len(parts) < 2 * _MOST_NUMBERS and all(isinstance(part, kinds) for part in parts)
    return isinstance(reading.names.value(node), int | float)


def _method(reading: Reading, call: ast.Call, owner: ast.expr, attribute: str) -> Iterator[tuple[ast.expr, str]]:
    weight = weight_of_method(attribute)
    if weight is None or not _is_tensor(reading, owner, attribute):
        return
    if _counts(reading, call, weight):
        yield call, f".{attribute}()"


def _is_tensor(reading: Reading, owner: ast.expr, attribute: str) -> bool:
    """Whether the owner of a method is a tensor, or may be one by a name of method that only tensors have."""
    if reading.tensors.origin(owner) is not Origin.UNKNOWN:
        return True
    names = reading.names.of(owner)
    foreign = any(not name.startswith("torch") for name in names)
    return attribute.rstrip("_") in DISTINCT_METHODS and not foreign and not isinstance(owner, ast.Constant)


def _counts(reading: Reading, node: ast.expr, weight: Weight) -> bool:
    """Whether an operator is reported: a heavy one always, mathematics on inputs, others if they make the answer."""
    if weight is Weight.HEAVY:
        return True
    if weight is Weight.MATH and reading.tensors.origin(node) is Origin.INPUT:
        return True
    return becomes_the_answer(reading, node)
