"""Triton's interpreter, made safe to point at broken kernels.

Every load, store and atomic is checked against the tensors of its launch before it touches memory,
an autotuned kernel runs with its first configuration that works, and launches are recorded.  Patches
Triton's own classes in this process, for triton 3.6 to 3.9; never used outside a worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import mangle_type

from engine.model import Location, OutOfBounds
from engine.worker.launches.records import LaunchBook, bound_arguments, is_constexpr, parts_of
from engine.worker.launches.withholding import Withholding
from engine.worker.monitor.host_code import HostCode
from engine.worker.monitor.memory_tracker import MemoryTracker
from engine.worker.monitor.race_witness import Deed, Meetings
from engine.worker.triton_interpreter import (
    bfloat16,
    combining,
    float_arguments,
    handles,
    jit_attributes,
    libdevice,
    loop_values,
)
from engine.worker.triton_interpreter.gpu_need import GpuNeed
from engine.worker.triton_interpreter.program_order import Disorder
from engine.worker.triton_interpreter.refusals import Refusals, is_refusal

# Triton's interpreter is not typed: what is taken from it or handed to it is Any throughout this file.


class OutOfBoundsError(Exception):
    """A kernel was about to touch memory outside every tensor of its launch."""

    def __init__(self, report: OutOfBounds) -> None:
        super().__init__(
            f"out-of-bounds {report.access} in {report.kernel}: {report.tensor}[{report.index}], "
            f"but {report.tensor} has {report.elements} elements (program {report.program})"
        )
        self.report = report


@dataclass(frozen=True, kw_only=True)
class _Extent:
    """The bytes of one tensor's storage, from `start` up to and without `stop`."""

    name: str
    start: int
    stop: int
    element_bytes: int


class Guard:
    """Checks the memory accesses of interpreted kernels; one per process, installed once."""

    def __init__(
        self,
        book: LaunchBook,
        withholding: Withholding | None = None,
        disorder: Disorder | None = None,
        meetings: Meetings | None = None,
        provenance: MemoryTracker | None = None,
        host_code: HostCode | None = None,
        gpu_need: GpuNeed | None = None,
    ) -> None:
        self._book = book
        self._withholding = withholding or Withholding()
        self._disorder = disorder or Disorder(torch.device("cpu"))
        self._meetings = meetings or Meetings()
        self._provenance = provenance or MemoryTracker()
        self._host_code = host_code or HostCode()
        self._gpu_need = gpu_need or GpuNeed()
        self._filename = ""
        self._kernel = ""
        self._extents: tuple[_Extent, ...] = ()
        self._always: tuple[_Extent, ...] = ()
        self._made_pointers = False
        self._refusals: Refusals | None = None

    def install(self) -> None:
        """Patch Triton's interpreter and autotuner in this process."""
        bfloat16.install()
        combining.install()
        float_arguments.install()
        loop_values.install()
        libdevice.install()
        handles.install()
        jit_attributes.install()
        builder = triton_interpreter.InterpreterBuilder
        for name, access, pointer_at, mask_at in (
            ("create_masked_load", "load", 0, 1),
            ("create_masked_store", "store", 0, 2),
            ("create_atomic_rmw", "atomic", 1, 3),
            ("create_atomic_cas", "atomic", 0, None),
        ):
            setattr(builder, name, self._checked(getattr(builder, name), access, pointer_at, mask_at))
        builder.create_int_to_ptr = self._noting_pointers(builder.create_int_to_ptr)
        builder.create_splat = _keeping_booleans(builder.create_splat)
        builder.set_grid_idx = self._disorder.moving(builder.set_grid_idx)
        executor = triton_interpreter.GridExecutor
        executor.__call__ = self._recorded(executor.__call__)
        Autotuner.run = _run_first_valid
        triton_interpreter._patch_lang = _patch_once(triton_interpreter._patch_lang)
        mangle_type(0)  # the first question of a type imports Triton's other languages, which takes 0.1 s

    def watch(self, filename: str) -> None:
        """Accesses are attributed to lines of this file."""
        self._filename = filename

    def refuse_as(self, target: str | None) -> None:
        """Refuse what this GPU would refuse to launch; None refuses nothing."""
        self._refusals = Refusals(target) if target is not None else None

    def allow(self, storages: dict[str, torch.Tensor]) -> None:
        """Also these storages may be touched, by launches that make pointers of integers that they read."""
        self._always = tuple(_extent(name, storage) for name, storage in storages.items() if storage.numel())

    def _recorded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(executor: Any, *args: Any, **kwargs: Any) -> Any:
            if self._gpu_need.skips():
                return None
            # Triton compares the annotation's text, which is quoted twice where the file quotes it.
            executor.constexprs = [name for name in executor.arg_names if is_constexpr(executor.fn, name)]
            bound = bound_arguments(executor.fn, args, kwargs)
            hooks, executor.pre_run_hooks = getattr(executor, "pre_run_hooks", ()), ()
            for hook in hooks:  # here, for nothing of the candidate's runs in the launch, and none of it is withheld
                hook(*args, **{name: value for name, value in kwargs.items() if name in bound})
            if self._withholding.withholds(executor.fn):
                return None
            news = self._host_code.look(executor.fn, bound)
            grid = executor.grid(bound) if callable(executor.grid) else executor.grid
            grid = self._refusals.grid(grid) if self._refusals is not None else tuple(int(size) for size in grid)
            if self._refusals is not None:
                self._refusals.check(executor.fn, args, kwargs, grid)
            executor.grid = grid  # evaluated here as well
            outer = self._kernel, self._extents
            self._kernel, self._made_pointers = executor.fn.__name__, False
            parts = dict(part for name, value in bound.items() for part in parts_of(name, value))
            self._extents = tuple(
                _extent(name, base) for name, value in parts.items() if (base := _tensor_of(value)) is not None
            )
            self._meetings.begin_launch()
            try:
                values = parts.values()
                told = (*values, *news)
                name = executor.fn.__name__
                with self._provenance.launch(told, name), self._withholding.launching(executor.fn, values):
                    result = call(executor, *args, **kwargs)
            except Exception as error:
                if _caused_by_bounds(error):  # anything else may be a configuration that autotuning passes over
                    self._book.record(executor.fn, args, kwargs, grid)
                raise
            finally:
                if self._made_pointers:
                    self._provenance.lose_sight()
                self._kernel, self._extents = outer
            self._book.record(executor.fn, args, kwargs, grid)
            return result

        return recorded

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
            if self._meetings.on and access != "atomic":
                self._meet(args[1].data if access == "store" else None, pointers.data, mask, builder)
            return operation(builder, *args, **kwargs)

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

    def _meet(self, values: Any, addresses: Any, mask: Any, builder: Any) -> None:
        """Have it noted which elements this program touches, and say the name of one where it meets another."""
        chosen = np.broadcast_to(True if mask is None else mask, addresses.shape)
        line = self._line()
        deed = Deed(
            program=_program(builder),
            line=line.line if line else None,
            values=None if values is None else np.broadcast_to(values, addresses.shape)[chosen],
        )
        address = self._meetings.note(deed, addresses[chosen])
        extents = self._extents + self._always
        extent = next((one for one in extents if address is not None and one.start <= address < one.stop), None)
        if address is not None and extent is not None:
            self._meetings.tell(self._kernel, extent.name, (address - extent.start) // extent.element_bytes, deed)

    def _report(self, access: str, address: int, touched: Any, builder: Any) -> None:
        """Name the tensor that most of what is touched lies in; the nearest one when all lies outside."""
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


def _keeping_booleans(splat: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison of scalars spread over a block stays boolean; Triton makes it what was compared, and no mask."""

    def create_splat(builder: Any, shape: Any, scalar: Any) -> Any:
        block = splat(builder, shape, scalar)
        if scalar.data.dtype == np.bool_:
            block.data = block.data.astype(np.bool_)
        return block

    return create_splat


class _Kept:
    """Stands for Triton's patch scope, and restores nothing."""

    def restore(self) -> None:
        pass


def _patch_once(patch: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's language patched once, not before every launch, where it takes 5 ms of doing the same again."""
    patched: set[frozenset[int]] = set()
    # As they are before the first patch: a module's own name for one of them, `exp = tl.exp`, would stay with it.
    originals = {id(value): name for name, value in vars(tl).items() if callable(value)}
    renewed: set[tuple[int, int]] = set()

    def patch_unless_patched(function: Any) -> _Kept:
        languages = {id(tl), id(tl.core)}  # an array would answer whether it equals one of them with an array
        visible = frozenset(languages.intersection(map(id, list(function.__globals__.values()))))
        if not visible or visible not in patched:
            patch(function)
            patched.add(visible)
            # Triton 3.6 says int(data), which numpy refuses since 2.4 for what is no 0-d array.
            tl.tensor.__index__ = lambda scalar: int(scalar.handle.data.squeeze())
        names: dict[str, Any] = function.__globals__
        if (id(names), len(names)) not in renewed:
            renewed.add((id(names), len(names)))
            held = tuple(names.items())  # at once: a thread of the candidate may define something meanwhile
            names.update({name: getattr(tl, originals[id(of)]) for name, of in held if id(of) in originals})
        return _Kept()

    return patch_unless_patched


def _run_first_valid(tuner: Any, *args: Any, **kwargs: Any) -> Any:
    """Autotuner.run without timing: the first configuration, after pruning, that the kernel accepts."""
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
    refusal: Exception | None = None
    for config in configs:
        tuner.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
        try:
            return tuner.fn.run(*args, **kwargs, **config.all_kwargs())
        except Exception as error:
            if _caused_by_bounds(error) or is_refusal(error):
                raise
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _caused_by_bounds(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OutOfBoundsError):
            return True
        error = error.__cause__
    return False
