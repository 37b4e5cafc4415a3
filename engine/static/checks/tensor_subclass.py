"""An output that only behaves like a tensor.

A subclass or a dispatch mode can compute when it is read, or make every comparison succeed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.tensors import Origin
from engine.static.analysis.words import words
from engine.static.findings import hint

STRICT = "The output is a plain torch.Tensor, and no operator is intercepted."
CATCHES = (
    "import torch\nclass Lazy(torch.Tensor):\n    pass\ndef f(x):\n    return x.as_subclass(Lazy)\n",
    "class Lazy:\n    @classmethod\n    def __torch_function__(cls, *a):\n        return True\ndef f(x):\n"
    "    return Lazy()\n",
    "import torch\nT = torch.Tensor\nclass Lazy(T):\n    @classmethod\n    def __torch_dispatch__(cls, *a):\n"
    "        pass\n",
    "import torch\ndef f(x, kind):\n    return torch.Tensor._make_subclass(kind, x)\n",
    "import torch\ndef f(x):\n    y = torch.empty_like(x)\n    y.allclose = lambda other: True\n    return y\n",
    "from torch.utils._python_dispatch import TorchDispatchMode\nclass Watch(TorchDispatchMode):\n    pass\n"
    "Watch().__enter__()\n",
)
SPARES = (
    "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
    "import torch\ndef f(x):\n    assert isinstance(x, torch.Tensor)\n    return torch.nn.Parameter(x)\n",
    "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n",
    "import torch\ndef f(x):\n    x.requires_grad = False\n    x.grad = None\n    return x\n",
    "class Plan:\n    def __call__(self, x):\n        return x\n",
    "import torch\ndef f(x):\n    plan = Plan()\n    plan.sum = 3\n    return x\n",
)
_SPECIAL = frozenset({"__torch_function__", "__torch_dispatch__"})
_MAKERS = frozenset({"as_subclass", "_make_subclass", "_make_wrapper_subclass"})
_BASES = ("torch.Tensor", "torch._C._TensorBase", "torch._C.TensorBase", "torch.nn.Parameter")
_OWN_STATE = words("data grad requires_grad names retains_grad")


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for tensor subclasses, dispatch modes and methods that are replaced on one tensor."""
    for declared in reading.host(ast.ClassDef):
        for name in (name for base in declared.bases for name in reading.names.of(base)):
            if name in _BASES or name.endswith(("TorchDispatchMode", "TorchFunctionMode")):
                yield hint(
                    "tensor_subclass", declared, f"{declared.name} derives from {name} and can intercept operators"
                )
    for function in reading.host(ast.FunctionDef):
        if function.name in _SPECIAL:
            yield hint("tensor_subclass", function, f"{function.name} intercepts every operator on this object")
    for attribute in reading.host(ast.Attribute):
        if attribute.attr in _MAKERS:
            yield hint("tensor_subclass", attribute, f"{attribute.attr} creates a tensor subclass")
        elif isinstance(attribute.ctx, ast.Store) and attribute.attr not in _OWN_STATE:
            yield from _replaced(reading, attribute)


def _replaced(reading: Reading, attribute: ast.Attribute) -> Iterator[Finding]:
    above = reading.parent(attribute)
    value = above.value if isinstance(above, ast.Assign) else None
    callable_ = isinstance(value, ast.Lambda) or bool(reading.definitions(value))
    if callable_ and reading.tensors.origin(attribute.value) is not Origin.UNKNOWN:
        yield hint("tensor_subclass", attribute, f"{attribute.attr} is replaced on one tensor")
