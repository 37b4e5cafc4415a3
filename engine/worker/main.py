"""The worker's main loop: load a candidate, call it case by case, until the pipe closes or we are killed."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
import triton

from engine import tensors, warm_kernel, wire
from engine.processes.service import Line
from engine.worker import failures, loader
from engine.worker.interpreter import Guard
from engine.worker.launches import LaunchBook
from engine.worker.poison import Poison
from engine.worker.recorder import record_compiled_launches

DEVICE_VARIABLE = "KGTUI_DEVICE"
_MOST_RETURNED = 64  # more than any operator returns; the judge compares the count


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Get warm, say so, and carry out commands."""
    line = Line(commands, replies)
    worker = _Worker(torch.device(os.environ[DEVICE_VARIABLE]))
    versions = {"torch": str(torch.__version__), "triton": triton.__version__, "python": platform.python_version()}
    line.reply(wire.Ready(id="ready", confinement=in_force, versions=versions))
    line.serve(worker.carry_out)


def warm_up(device: torch.device) -> None:
    """Launch something small under poison: the first launch of a process costs many times the next ones."""
    with Poison(0):
        warm_kernel.run(device)


def prepare_driver() -> None:
    """Have Triton build and load its C helper for CUDA once; every child inherits it.  Opens no device."""
    from triton.backends.nvidia.driver import CudaUtils

    CudaUtils()
    # It is a singleton that Triton initialises again for every driver, and every child has an empty build cache.
    CudaUtils.__init__ = lambda self: None


class _Worker:
    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._book = LaunchBook()
        self._guard: Guard | None = None
        if device.type == "cpu":
            self._guard = Guard(self._book)
            self._guard.install()
            torch.set_num_threads(1)  # small tensors; the other cores belong to the judge, the compiler and the user
        else:
            warm_up(device)
            torch.cuda.synchronize()
            record_compiled_launches(self._book)
        self._entry: Callable[..., Any] | None = None  # Any: a stranger's function
        self._filename = ""
        self._arena: tensors.Arena | None = None
        self._on_device: tuple[torch.Tensor, ...] = ()

    def carry_out(self, command: wire.AnyCommand) -> wire.AnyReply:
        try:
            if isinstance(command, wire.Load):
                return self._load(command)
            if isinstance(command, wire.Call):
                return self._call(command)
        except BaseException as error:  # the edge of the process: everything a candidate raises is a reply
            sys.stdout.flush()
            failed = failures.failure(command.id, error, self._filename)
            return msgspec.structs.replace(failed, launches=self._book.take_untold())
        return wire.Failed(
            id=command.id, kind=wire.FailureKind.ENGINE, message="a worker loads and calls, nothing else"
        )

    def _load(self, command: wire.Load) -> wire.AnyReply:
        self._filename = command.path
        if self._guard is not None:
            self._guard.watch(command.path)
        folder = Path(command.folder) if command.folder is not None else None
        self._entry, siblings = loader.load(Path(command.path), folder, command.entry)
        return wire.Loaded(id=command.id, siblings=siblings)

    def _call(self, command: wire.Call) -> wire.AnyReply:
        if self._entry is None:
            return wire.Failed(id=command.id, kind=wire.FailureKind.ENGINE, message="call before load")
        storages = self._upload(command.arena)
        arguments = [tensors.value_of(spec, storages) for spec in command.arguments]
        started = time.perf_counter()
        with Poison(command.poison):
            returned = self._entry(*arguments)
        self._synchronise()
        elapsed_s = time.perf_counter() - started
        self._download()
        handed_back = _hand_back(returned, Path(command.outputs), command.max_output_bytes)
        sys.stdout.flush()
        return wire.Called(id=command.id, returned=handed_back, launches=self._book.take_untold(), elapsed_s=elapsed_s)

    def _upload(self, spec: wire.ArenaSpec) -> tuple[torch.Tensor, ...]:
        """The arena's storages on the device; the same memory again for the same arena."""
        if self._arena is None or self._arena.spec.path != spec.path:
            self._arena = tensors.Arena(spec)
            if self._device.type == "cpu":
                self._on_device = self._arena.storages
            else:
                self._on_device = tuple(torch.empty_like(part, device=self._device) for part in self._arena.storages)
            if self._guard is not None:
                self._guard.allow({f"storage {i}": part for i, part in enumerate(self._arena.storages)})
        if self._device.type != "cpu":
            for there, here in zip(self._on_device, self._arena.storages, strict=True):
                there.copy_(here)
        return self._on_device

    def _download(self) -> None:
        if self._device.type != "cpu" and self._arena is not None:
            for there, here in zip(self._on_device, self._arena.storages, strict=True):
                here.copy_(there)

    def _synchronise(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


def _hand_back(returned: object, path: Path, max_bytes: int) -> tuple[wire.ReturnedSpec, ...]:
    """Write returned tensors to the file as contiguous bytes, one after another."""
    values = returned[:_MOST_RETURNED] if isinstance(returned, tuple | list) else (returned,)
    specs: list[wire.ReturnedSpec] = []
    offset = 0
    with path.open("wb") as file:
        for value in values:
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                specs.append(wire.ReturnedSpec(type_name=type(value).__name__))
                continue
            assert isinstance(value, torch.Tensor)
            content = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
            size = content.numel() * content.element_size()
            if offset + size > max_bytes:
                raise MemoryError(f"the candidate returned more than {max_bytes} bytes")
            raw = content.view(-1).view(torch.uint8) if content.numel() else content.new_empty(0, dtype=torch.uint8)
            file.write(raw.numpy().tobytes())
            specs.append(
                wire.ReturnedSpec(
                    type_name="Tensor", dtype=tensors.dtype_name(value.dtype), shape=tuple(value.shape),
                    offset=offset, bytes=size,
                )
            )  # fmt: skip
            offset += size
    return tuple(specs)
