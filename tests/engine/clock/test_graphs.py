"""Names of the kernels in a captured graph, from bindings that are scripted, absent or another version."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from engine.clock.graphs import kernel_nodes

KERNEL, COPY, WITHIN = "kernel node", "copy node", "graph node"


class Graph:
    """A kept graph."""

    def raw_cuda_graph(self) -> int:
        return 1234


class Bindings:
    """cuda.bindings.driver of a graph whose nodes are (type, function, kernel)."""

    CUresult = SimpleNamespace(CUDA_SUCCESS=0)
    CUgraphNodeType = SimpleNamespace(CU_GRAPH_NODE_TYPE_KERNEL=KERNEL, CU_GRAPH_NODE_TYPE_GRAPH=WITHIN)

    def __init__(self, *nodes: tuple[str, int, int], status: int = 0) -> None:
        self._nodes, self._status = nodes, status

    def CUgraph(self, handle: int) -> int:  # noqa: N802 -- the binding's name
        return handle

    def cuGraphGetNodes(self, graph: int, count: int = 0) -> tuple[int, list[Any], int]:  # noqa: N802
        nodes = {1234: self._nodes, 77: ((KERNEL, 9, 0),)}[graph]
        return self._status, list(nodes[:count]), len(nodes)

    def cuGraphChildGraphNodeGetGraph(self, node: tuple[str, int, int]) -> tuple[int, int]:  # noqa: N802
        return 0, node[1]

    def cuGraphNodeGetType(self, node: tuple[str, int, int]) -> tuple[int, str]:  # noqa: N802 -- the binding's name
        return 0, node[0]

    def cuGraphKernelNodeGetParams(self, node: tuple[str, int, int]) -> tuple[int, Any]:  # noqa: N802
        return 0, SimpleNamespace(func=node[1], kern=node[2])

    def cuFuncGetName(self, function: int) -> tuple[int, bytes]:  # noqa: N802 -- the binding's name
        return 0, f"function_{function}".encode()

    def cuKernelGetName(self, kernel: int) -> tuple[int, bytes]:  # noqa: N802 -- the binding's name
        return 0, f"kernel_{kernel}".encode()


def names(monkeypatch: pytest.MonkeyPatch, driver: Any) -> tuple[str, ...]:
    def imported(name: str) -> Any:
        assert name == "cuda.bindings.driver"
        if driver is None:
            raise ModuleNotFoundError(name)
        return driver

    with monkeypatch.context() as patched:
        patched.setattr(importlib, "import_module", imported)
        return tuple(node.name for node in kernel_nodes(Graph()))  # type: ignore[arg-type]  # all that is asked of a graph


def test_kernels_are_named_in_node_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Bindings((KERNEL, 5, 0), (COPY, 0, 0), (KERNEL, 0, 8), (KERNEL, 5, 0))
    assert names(monkeypatch, driver) == ("function_5", "kernel_8", "function_5")


def test_kernels_of_nested_graph_replace_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Bindings((KERNEL, 5, 0), (WITHIN, 77, 0), (KERNEL, 6, 0))
    assert names(monkeypatch, driver) == ("function_5", "function_9", "function_6")


def test_an_empty_graph_has_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(monkeypatch, Bindings()) == ()


@pytest.mark.parametrize("driver", [None, SimpleNamespace(), Bindings((KERNEL, 5, 0), status=1)])
def test_bindings_that_are_absent_or_refuse_name_nothing(monkeypatch: pytest.MonkeyPatch, driver: Any) -> None:
    assert names(monkeypatch, driver) == ()
