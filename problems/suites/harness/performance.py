"""Inputs from a task's performance file (KernelBench-X, TritonBench): a class that makes a list of inputs by size.

The file imports the operator, and the suite's base class and timing; this module provides replacements. `call_op` of an
input runs until it calls the operator: the arguments of that call are the inputs of the case.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import torch

from engine.loading.loader import import_file
from engine.reference.harness import UnavailableError
from problems.suites.harness.values import copied, leaves
from problems.suites.texts.performance import FIRST, LAST

Function: TypeAlias = Callable[..., Any]  # Any: an untrusted function
Call: TypeAlias = tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]

FILE = "kgtui_performance.py"
MOST_BYTES = 64 << 20
"""Limit on an input's bytes: each timed call has a fresh one. `LAST` is the last input before the first larger one."""


class _EnoughError(BaseException):
    """The requested input exists, or the operator was called; no handler in the file catches this exception."""


class _Inputs(list[Any]):  # Any: inputs as made by the suite
    """The list that a performance file fills: stores the last input, and ends the filling once there are enough."""

    def __init__(self, *, most: int | None) -> None:
        super().__init__()
        self._most = most

    def append(self, item: Any) -> None:
        """Store an input in place of the previous one; an input that is too large ends the filling."""
        if self and _bytes(item) > MOST_BYTES:
            raise _EnoughError
        if self:
            self[-1] = None
        super().append(item)
        if len(self) == self._most:
            raise _EnoughError


class _Performance:
    """The parts of the suite's base class that make inputs; `wanted` is the number of inputs, None for all."""

    wanted: int | None = None
    _inputs = _Inputs(most=None)

    def __init__(
        self, op_name: str = "", dtype: torch.dtype | None = None, is_backward: bool = False, **kwargs: Any
    ) -> None:  # Any: values as passed by the suite
        self.op_name, self.dtype, self.is_backward, self.kwargs = op_name, dtype or torch.float32, is_backward, kwargs

    @property
    def input_tensors(self) -> _Inputs:
        """The inputs made so far."""
        return self._inputs

    @input_tensors.setter
    def input_tensors(self, made: Iterable[Any]) -> None:
        self._inputs = _Inputs(most=self.wanted)
        for item in made:
            self._inputs.append(item)


class PerformanceFile:
    """The performance file of a task, imported when its first input is drawn."""

    def __init__(self, folder: Path, *, entry: str, stem: str) -> None:
        self._file, self._entry, self._stem = folder / FILE, entry, stem
        self._made: _Performance | None = None
        self._calls: list[Call] = []
        self._count: int | None = None

    def draw(self, which: str, function: Function) -> Call:
        """The arguments of the operator for the first or last input; `function` is the reference.

        Raises:
            UnavailableError: the file makes no inputs, or calls no operator.
        """
        if self._made is None:
            self._made = self._opened(function)
        made: Any = self._made  # Any: its methods are defined by the suite
        made.wanted = 1 if which == FIRST else self._count
        made.input_tensors = ()
        _until_enough(made.get_input_tensors)
        inputs = made.input_tensors
        if not inputs:
            raise UnavailableError("its performance file makes no inputs")
        if which == LAST:
            self._count = len(inputs)
        self._calls.clear()
        _until_enough(lambda: made.call_op(made.to_cuda(inputs[-1])))
        if not self._calls:
            raise UnavailableError("its performance file makes no call of the operator")
        return self._calls[-1]

    def _opened(self, function: Function) -> _Performance:
        """An instance of the last class in the file that derives from the suite's base class.

        Raises:
            UnavailableError: the file has no such class.
        """
        for name in _operator_modules(self._file.read_text(encoding="utf-8"), self._entry, self._stem):
            _install(name, _Operator(name, self._entry, self._record, function))
        _install("performance_utils", _Utilities())
        module = import_file(self._file, self._file.parent, name=self._file.stem)
        classes = [value for value in vars(module).values() if isinstance(value, type) and value is not _Performance]
        found = [one for one in classes if issubclass(one, _Performance)]
        if not found:
            raise UnavailableError("its performance file defines no class of Performance_Metrics")
        return found[-1]()

    def _record(self, *args: Any, **kwargs: Any) -> Any:  # Any: arguments of an untrusted function
        self._calls.append(copied((args, tuple(kwargs.items()))))
        raise _EnoughError


class _Operator(ModuleType):
    """Stands for the module from which a performance file imports the operator: other names come from the reference."""

    def __init__(self, name: str, entry: str, record: Function, function: Function) -> None:
        super().__init__(name)
        self._entry, self._record, self._function = entry, record, function

    def __getattr__(self, name: str) -> Any:  # Any: any value defined in the reference's file
        if name == self._entry:
            return self._record
        try:
            return self._function.__globals__[name]
        except KeyError:
            raise AttributeError(name) from None


class _Utilities(ModuleType):
    """Replaces the suite's timing module, of which nothing is used."""

    def __init__(self) -> None:
        super().__init__("performance_utils")
        self.Performance_Metrics, self.do_bench_config = _Performance, object


def _operator_modules(text: str, entry: str, stem: str) -> list[str]:
    """The modules, in any package, from which a performance file imports the operator."""
    return [
        node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        if node.module.rpartition(".")[2] == stem or any(alias.name == entry for alias in node.names)
    ]


def _install(name: str, module: ModuleType) -> None:
    """Make imports of the name return this module."""
    sys.modules[name] = module
    parts = name.split(".")
    for length in range(1, len(parts)):
        package = ".".join(parts[:length])
        sys.modules.setdefault(package, ModuleType(package))


def _until_enough(run: Callable[[], object]) -> None:
    """Run until enough inputs exist, or to the end."""
    try:
        run()
    except _EnoughError:
        return


def _bytes(item: object) -> int:
    return sum(leaf.numel() * leaf.element_size() for leaf in leaves(item))
