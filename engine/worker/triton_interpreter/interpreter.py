"""Triton's interpreter, made safe for broken kernels: it runs kernels that the machine does not support.

Every load, store and atomic is checked against the tensors of its launch before it touches memory.  Patches classes of
Triton's interpreter in this process, for triton 3.6 to 3.9; never used outside a worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.errors import InterpreterError
from triton.runtime.interpreter import GridExecutor, InterpretedFunction

from engine.loading.raised import InterpreterLimitError, OutOfBoundsError
from engine.model import Location, OutOfBounds
from engine.worker.launches.records import is_constexpr, parts_of
from engine.worker.monitor.race_witness import MemoryAccess, RaceDetector
from engine.worker.triton_interpreter import bfloat16, combining, float_arguments, libdevice, loop_values
from engine.worker.triton_interpreter.language import interpreting
from engine.worker.triton_interpreter.program_order import ProgramOrder

# Triton's interpreter is not typed: its arguments and results are Any throughout this file.


@dataclass(frozen=True, kw_only=True)
class _Extent:
    """The bytes of one tensor's storage, from `start` up to and without `stop`."""

    name: str
    start: int
    stop: int
    element_bytes: int


class Interpreter:
    """Runs kernels in Triton's interpreter and checks their memory accesses; one per process."""

    def __init__(
        self,
        *,
        program_order: ProgramOrder | None = None,
        race_detector: RaceDetector | None = None,
    ) -> None:
        self._program_order = program_order or ProgramOrder(torch.device("cpu"))
        self._race_detector = race_detector or RaceDetector()
        self._filename = ""
        self._kernel = ""
        self._extents: tuple[_Extent, ...] = ()
        self._always: tuple[_Extent, ...] = ()
        self._made_pointers = False
        self._in_atomic = False

    def install(self) -> None:
        """Patch Triton's interpreter in this process."""
        bfloat16.install()
        combining.install()
        float_arguments.install()
        loop_values.install()
        builder = triton_interpreter.InterpreterBuilder
        for name, access, pointer_at, mask_at in (
            ("create_masked_load", "load", 0, 1),
            ("create_masked_store", "store", 0, 2),
            ("create_atomic_rmw", "atomic", 1, 3),
            ("create_atomic_cas", "atomic", 0, None),
            ("create_atomic_load", "atomic", 0, 1),
            ("create_atomic_store", "atomic", 0, 2),
            ("create_atomic_poll", "atomic", 0, None),
        ):
            if hasattr(builder, name):  # the last three since triton 3.9
                setattr(builder, name, self._checked(getattr(builder, name), access, pointer_at, mask_at))
        builder.create_int_to_ptr = self._noting_pointers(builder.create_int_to_ptr)
        builder.create_splat = _with_boolean_comparisons(builder.create_splat)
        builder.set_grid_idx = self._program_order.moving(builder.set_grid_idx)
        if hasattr(builder, "create_atomic_poll"):
            builder.create_atomic_poll = _polling_once(builder.create_atomic_poll)
        libdevice.functions()

    def watch(self, filename: str) -> None:
        """Attribute accesses to lines of this file."""
        self._filename = filename

    def allow(self, storages: Mapping[str, torch.Tensor]) -> None:
        """Allow these storages, too, for launches that make pointers of integers that they read."""
        self._always = tuple(_extent(name, storage) for name, storage in storages.items() if storage.numel())

    def run(self, function: Callable[..., Any], values: Mapping[str, Any], grid: tuple[int, int, int]) -> None:
        """Run a kernel for all programs of `grid`.

        Raises:
            OutOfBoundsError: an access outside every tensor of the launch.
            InterpreterError: the kernel's own code raised an exception, which is the cause.
        """
        parts = dict(part for name, value in values.items() for part in parts_of(name, value))
        outer = self._kernel, self._extents
        self._kernel, self._made_pointers = function.__name__, False
        self._extents = tuple(
            _extent(name, base) for name, value in parts.items() if (base := _tensor_of(value)) is not None
        )
        self._race_detector.begin_launch()
        try:
            with interpreting():
                executor = GridExecutor(InterpretedFunction(function).rewrite(), list(values), grid)
                # Triton compares the text of the annotation, which is quoted twice if the file quotes it.
                executor.constexprs = [name for name in values if is_constexpr(function, name)]
                executor(**float_arguments.declared(function, values))
        except InterpreterError as error:
            if (violation := _violation_of(error)) is not None:
                raise violation from None
            raise
        finally:
            self._kernel, self._extents = outer

    def _noting_pointers(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def create_int_to_ptr(builder: Any, *args: Any) -> Any:
            self._made_pointers = True
            return operation(builder, *args)

        return create_int_to_ptr

    def _checked(
        self, operation: Callable[..., Any], access: str, pointer_at: int, mask_at: int | None
    ) -> Callable[..., Any]:
        def checked(builder: Any, *args: Any, **kwargs: Any) -> Any:
            pointers = args[pointer_at]
            mask = args[mask_at].data if mask_at is not None else None
            element_bytes = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
            self._check(access, pointers.data, mask, element_bytes, builder)
            if self._race_detector.on and access != "atomic" and not self._in_atomic:
                self._record_access(args[1].data if access == "store" else None, pointers.data, mask, builder)
            self._in_atomic = access == "atomic"  # Triton implements some atomics with plain loads and stores
            try:
                return operation(builder, *args, **kwargs)
            finally:
                self._in_atomic = False

        return checked

    def _check(self, access: str, addresses: Any, mask: Any, element_bytes: int, builder: Any) -> None:
        touched = addresses if mask is None else addresses[np.broadcast_to(mask, addresses.shape)]
        if touched.size == 0:
            return
        first, last = int(touched.min()), int(touched.max()) + element_bytes
        extents = self._extents + (self._always if self._made_pointers else ())
        if any(extent.start <= first and last <= extent.stop for extent in extents):
            return
        inside = np.zeros(touched.shape, dtype=bool)
        for extent in extents:
            inside |= (touched >= extent.start) & (touched + np.uint64(element_bytes) <= extent.stop)
        if not inside.all():
            self._report(access, int(touched[~inside].flat[0]), touched, builder)

    def _record_access(self, values: Any, addresses: Any, mask: Any, builder: Any) -> None:
        """Record the elements of this program's access, and report a conflict with another program."""
        chosen = np.broadcast_to(True if mask is None else mask, addresses.shape)
        line = self._line()
        action = MemoryAccess(
            program=_program(builder),
            line=line.line if line else None,
            values=None if values is None else np.broadcast_to(values, addresses.shape)[chosen],
        )
        address = self._race_detector.note(action, addresses[chosen])
        extents = self._extents + self._always
        extent = next((one for one in extents if address is not None and one.start <= address < one.stop), None)
        if address is not None and extent is not None:
            self._race_detector.record(
                self._kernel, extent.name, (address - extent.start) // extent.element_bytes, action
            )

    def _report(self, access: str, address: int, touched: Any, builder: Any) -> None:
        """Name of the tensor with most of the accessed bytes; the nearest one when all are outside."""
        extents = self._extents or self._always
        if not extents:
            raise OutOfBoundsError(self._no_tensor(access, builder))
        within = [np.count_nonzero((touched >= extent.start) & (touched < extent.stop)) for extent in extents]
        far = [max(extent.start - address, address - extent.stop, 0) for extent in extents]
        place = max(range(len(extents)), key=lambda one: (within[one], -far[one]))
        extent = extents[place]
        raise OutOfBoundsError(
            OutOfBounds(
                access=access,
                kernel=self._kernel,
                tensor=extent.name,
                index=(address - extent.start) // extent.element_bytes,
                elements=(extent.stop - extent.start) // extent.element_bytes,
                program=_program(builder),
                location=self._line(),
            )
        )

    def _no_tensor(self, access: str, builder: Any) -> OutOfBounds:
        return OutOfBounds(
            access=access,
            kernel=self._kernel,
            tensor="(the launch has no tensor)",
            index=0,
            elements=0,
            program=_program(builder),
            location=self._line(),
        )

    def _line(self) -> Location | None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self._filename:
                return Location(line=frame.f_lineno)
            frame = frame.f_back
        return None


def _program(builder: Any) -> tuple[int, int, int]:
    x, y, z = (int(i) for i in builder.grid_idx)
    return x, y, z


def _tensor_of(value: Any) -> torch.Tensor | None:
    base = getattr(value, "base", value)  # a tensor descriptor, or a wrapper that reinterprets the dtype
    if isinstance(value, torch.Tensor):
        return value
    return base if isinstance(base, torch.Tensor) else None


def _extent(name: str, tensor: torch.Tensor) -> _Extent:
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    return _Extent(name=name, start=start, stop=start + storage.nbytes(), element_bytes=tensor.element_size())


def _polling_once(poll: Callable[..., Any]) -> Callable[..., Any]:
    """Read each element once: programs run one after the other, so no value changes while a program waits."""

    def create_atomic_poll(builder: Any, ptr: Any, expected: Any, timeout_ns: Any, sem: Any, scope: Any) -> Any:
        at_once = triton_interpreter.TensorHandle(np.zeros(1, np.uint64), triton_interpreter.tl.uint64)
        matched = poll(builder, ptr, expected, at_once, sem, scope)
        has_timeout = isinstance(timeout_ns, triton_interpreter.TensorHandle)  # else an empty value of the IR
        if not has_timeout and not matched.data.all():
            raise InterpreterLimitError(
                "tl.atomic_poll waits for a program that runs later; without a GPU, programs run one after the other"
            )
        return matched

    return create_atomic_poll


def _with_boolean_comparisons(splat: Callable[..., Any]) -> Callable[..., Any]:
    """Keep a splatted scalar comparison boolean; Triton gives it the type of the compared values, not of a mask."""

    def create_splat(builder: Any, shape: Any, scalar: Any) -> Any:
        block = splat(builder, shape, scalar)
        if scalar.data.dtype == np.bool_:
            block.data = block.data.astype(np.bool_)
        return block

    return create_splat


def _violation_of(error: BaseException | None) -> OutOfBoundsError | None:
    while error is not None and not isinstance(error, OutOfBoundsError):
        error = error.__cause__
    return error
