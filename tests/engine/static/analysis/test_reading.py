"""Which code runs, what a kernel writes, and which operators compute."""

from __future__ import annotations

import ast

import pytest
import torch

from engine.static.analysis import Reading
from engine.static.analysis.tensors import Origin
from engine.static.analysis.vocabulary import DISTINCT_METHODS, Weight, weight_of, weight_of_method


def called_in_host_code(text: str, entry: str | None = "f") -> set[str]:
    reading = Reading.of(text, entry=entry)
    return {name for call in reading.host(ast.Call) for name in reading.names.of(call.func)}


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    g()\ndef g():\n    seen()",
        "def f():\n    pass\nseen()",
        "f = make()\ndef make():\n    seen()",
        "class M:\n    def go(self):\n        seen()\ndef f():\n    M()",
        "import m\n@m.register\ndef g():\n    seen()\ndef f():\n    pass",
        "import triton\n@triton.testing.perf_report([])\ndef g(n):\n    seen()\ndef f():\n    g.run()",
        "def f():\n    globals()['g']()\ndef g():\n    seen()",
        "def f():\n    def inner():\n        seen()\n    return inner",
        "def f():\n    return lambda: g()\ndef g():\n    seen()",
    ],
)
def test_code_reachable_from_entry_is_host_code(text: str) -> None:
    assert any(name.endswith("seen") for name in called_in_host_code(text))


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    pass\ndef g():\n    seen()",
        "def f():\n    pass\nif __name__ == '__main__':\n    seen()",
        "def f():\n    pass\ndef g():\n    seen()\nif '__main__' == __name__:\n    g()",
        "import triton\ndef f():\n    k[(1,)]()\n@triton.jit\ndef k():\n    seen()",
        "class T:\n    def test(self):\n        seen()\ndef f():\n    pass",
        "import triton\n@triton.testing.perf_report([])\ndef bench(n):\n    seen()\ndef f():\n    pass",
        "import pytest\n@pytest.mark.parametrize('n', [1])\ndef test(n):\n    seen()\ndef f():\n    pass",
    ],
)
def test_kernels_and_uncalled_functions_are_not_host_code(text: str) -> None:
    assert not any(name.endswith("seen") for name in called_in_host_code(text))


def test_without_a_known_entry_every_function_may_run() -> None:
    assert "seen" in called_in_host_code("def f():\n    pass\ndef g():\n    seen()", entry="elsewhere")


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("tl.store(y + tl.arange(0, 4), tl.load(x))", {"y"}),
        ("at = y + n * 2\n    tl.store(at, tl.load(x))", {"y"}),
        ("tl.atomic_add(x, 1)", {"x"}),
        ("i = tl.load(x)\n    tl.store(y + i, 1)", {"y"}),
        ("helper(y, x)", {"y"}),
        (
            "d = tl.make_tensor_descriptor(y, [n], [1], [4])\n    d.store([0], tl.load(x))",
            {"y"},
        ),
        ("p = tl.make_block_ptr(base=x, shape=(n,))\n    tl.store(p, 1)", {"x"}),
        ("unknown(x, y)", {"x", "y"}),
        ("tl.load(x)", set()),
    ],
)
def test_the_arguments_that_a_kernel_writes_are_found(body: str, written: set[str]) -> None:
    text = (
        "import triton\nimport triton.language as tl\n@triton.jit\ndef helper(p, q):\n    tl.store(p, tl.load(q))\n"
        f"@triton.jit\ndef k(x, y, n):\n    {body}\n"
    )
    reading = Reading.of(text)
    kernel = next(node for node in reading.kernels if node.name == "k")
    assert reading.launches.written_parameters(kernel) == written


@pytest.mark.parametrize(
    ("expression", "origin"),
    [
        ("x", Origin.INPUT),
        ("x.view(-1).half()", Origin.INPUT),
        ("x.shape[0]", Origin.UNKNOWN),
        ("x.numel() * 2", Origin.UNKNOWN),
        ("torch.empty_like(x)", Origin.OWN),
        ("x.new_zeros(3)", Origin.OWN),
        ("x * 2", Origin.INPUT),
        ("n + 1", Origin.UNKNOWN),
        ("torch.exp(torch.arange(4))", Origin.OWN),
        ("torch.result_type(x, x)", Origin.UNKNOWN),
    ],
)
def test_tensors_are_reported_from_sizes(expression: str, origin: Origin) -> None:
    reading = Reading.of(f"import torch\ndef f(x, n):\n    x.stride()\n    return {expression}\n")
    assert reading.tensors.origin(next(reading.all(ast.Return)).value) is origin


HEAVY = (
    "torch.mm torch._C._nn.gelu torch.ops.aten.mm.default torch.nn.Linear() torch.Tensor.softmax operator.matmul "
    "torch._softmax torch.bmm"
)
PLAIN = (
    "torch.empty torch.cat torch.float16 torch.nn.Parameter() torch.cuda.Stream torch.nn.functional.pad "
    "torch.ops.mine.mm torch.backends operator.itemgetter torch.no_grad numpy.prod torch.compile torch.Tensor.data_ptr"
)


@pytest.mark.parametrize("name", HEAVY.split())
def test_operator_in_any_namespace_is_heavy(name: str) -> None:
    assert weight_of(name) is Weight.HEAVY


@pytest.mark.parametrize("name", PLAIN.split())
def test_allocating_and_describing_calls_have_no_weight(name: str) -> None:
    assert weight_of(name) is None


def test_every_tensor_only_method_exists_in_torch() -> None:
    known = {name.rstrip("_") for owner in (torch.Tensor, torch, torch.nn.functional) for name in dir(owner)}
    assert {name for name in DISTINCT_METHODS if name not in known} == set()
    assert all(weight_of_method(name) for name in DISTINCT_METHODS)
