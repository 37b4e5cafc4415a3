"""Replays on a device: arenas in memory of the judge, which this process opens, or in files if drivers refuse."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import torch

from engine import protocol
from engine.clock.stopwatch import Stopwatch
from engine.devices.hardware.device_memory import DeviceMemoryError, alone, is_lost, open_block
from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError
from engine.machine.numerics import Array
from engine.protocol import tensors
from engine.protocol.proof.tape import Tape
from engine.replay.arena_files import arena_bytes, no_tensor, returned_spec, write_out
from engine.replay.checks import bytes_of
from engine.replay.device.kernels import DeviceKernels, HeldKernel
from engine.replay.device.memory import DeviceMemory, HostCopies
from engine.replay.device.timed_tape import TimedTape
from engine.replay.execution import KernelStoppedError, Replay


class DeviceBackend:
    """The device of this process, its kernels, and the memory that the judge shares with it."""

    def __init__(self, name: str) -> None:
        """`name` is torch's name of the device; its context is created now."""
        self._device = torch.device(name)
        self._noise = torch.Generator(self._device).manual_seed(secrets.randbits(62))
        torch.empty(64, dtype=torch.uint8, device=self._device).random_(0, 256, generator=self._noise)
        self._blocks: dict[str, torch.Tensor] = {}
        self._timed: TimedTape | None = None
        self._stopwatch: Stopwatch | None = None
        self._kernels: DeviceKernels | None = None
        if runtime_of(self._device).is_nvidia():
            self._kernels = DeviceKernels(self._device)

    def hold(self, command: protocol.HoldKernel) -> None:
        """Parse a module and keep it.

        Raises:
            UnsupportedError: an unknown operation, type or form; or this is not a device for replays.
            MachineError: it is malformed, or exceeds a limit.
        """
        self._own_kernels().hold(command.name, HeldKernel.of(command.ttir, command.arguments))

    def hold_binary(self, command: protocol.HoldBinary) -> None:
        """Load the binary of a held kernel.

        Raises:
            UnsupportedError: it cannot be launched here.
        """
        self._own_kernels().hold_binary(command.kernel, command.options, command.binary)

    def drop(self) -> None:
        """Unload all kernels, and return to the driver what torch's allocator keeps."""
        self._timed = None
        if self._kernels is not None:
            self._kernels.drop()
        torch.cuda.empty_cache()

    def open(self, command: protocol.ReplayTape, tape: Tape) -> DeviceReplayArena:
        """The memory of a checked tape, whose arguments are in the arena of the command.

        Raises:
            UnsupportedError: the driver does not let this process open it.
            MemoryError: the device does not have enough memory.
        """
        arguments = self._arguments(command.arena)
        launch = self._own_kernels().launcher(tape, command.kernels)
        memory = DeviceMemory(tape, arguments, launch=launch, noise=self._noise)
        outputs = None
        if command.arena.handle and command.arena.outputs is not None:
            outputs = tensors.part(self._blocks[command.arena.handle], command.arena.outputs)
        return DeviceReplayArena(command=command, memory=memory, storages=arguments, outputs=outputs)

    def check_memory(self, command: protocol.CheckMemory, tape: Tape) -> protocol.MemoryChecked:
        """Refuse: a device does not report the accesses of a kernel.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("the accesses of kernels are checked in host memory only")

    def time(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """Carry out a command of timing: the choice of a tape, or a command that a worker supports too.

        Raises:
            UnsupportedError: the tape cannot be timed, or nothing can on this device.
            TapeError: it contradicts itself, or exceeds a limit.
        """
        match command:
            case protocol.TimeTape():
                self._timed = TimedTape(command, self._own_kernels(), self._noise)
                return protocol.Done(id=command.id)
            case (
                protocol.OpenSlots()
                | protocol.Fetch()
                | protocol.TimeCalls()
                | protocol.Collect()
                | protocol.CloseSlots()
            ):
                # CUPTI is only started for timing, not for a proof.
                self._stopwatch = self._stopwatch or Stopwatch(self._device, self._entry, open_block=self._block)
                return self._stopwatch.carry_out(command)
        raise UnsupportedError(f"a replayer does not carry out {type(command).__name__}")

    def is_lost(self) -> bool:
        """Whether the device refuses all further work of this process."""
        return is_lost(self._device)

    def _own_kernels(self) -> DeviceKernels:
        if self._kernels is None:
            raise UnsupportedError("launches are replayed on NVIDIA GPUs and on the CPU only")
        return self._kernels

    def _entry(self) -> TimedTape:
        if self._timed is None:
            raise UnsupportedError("there is no tape to time")
        return self._timed

    def _block(self, handle: str, size_bytes: int) -> torch.Tensor:
        """The judge's memory at a handle, opened once.

        Raises:
            UnsupportedError: the driver does not let this process open it.
        """
        if handle not in self._blocks:
            try:
                self._blocks[handle] = open_block(handle, size_bytes, self._device)
            except DeviceMemoryError as error:
                raise UnsupportedError(f"the engine's device memory could not be opened: {error}") from error
        return self._blocks[handle]

    def _arguments(self, arena: protocol.ArenaSpec) -> list[torch.Tensor]:
        """The storages of an arena, on the device."""
        if not arena.handle:
            return [torch.from_numpy(content).to(self._device) for content in arena_bytes(arena)]
        block = self._block(arena.handle, arena.block_bytes)
        return [alone(tensors.part(block, storage)) for storage in arena.storages]


class DeviceReplayArena:
    """The arena of one replay and the memory of its tape; `outputs` is the judge's place for them, None for a file."""

    def __init__(
        self,
        *,
        command: protocol.ReplayTape,
        memory: DeviceMemory,
        storages: Sequence[torch.Tensor],
        outputs: torch.Tensor | None,
    ) -> None:
        self.memory = memory
        self._command = command
        self._storages = storages
        self._outputs = outputs

    @property
    def arguments(self) -> Sequence[Array]:
        """The bytes of the arena's storages, copied to the host when they are indexed."""
        return HostCopies(self._storages)

    @property
    def may_wait(self) -> bool:
        """False: programs of a device have no order."""
        return False

    def leave(self, state: Replay) -> tuple[protocol.ReturnedSpec, ...]:
        """Copy the outputs to the judge's memory, or else to files, and wait for the device.

        Raises:
            KernelStoppedError: the device has stopped a launch.
        """
        if self._outputs is None:
            for target, source in zip(arena_bytes(self._command.arena), self.arguments, strict=True):
                target[...] = source
            return write_out(self._command, state)
        returned = self._copy_out(self._outputs)
        try:
            runtime_of(self._outputs.device).synchronise(self._outputs.device)
        except RuntimeError as error:
            raise KernelStoppedError(f"the device stopped a launch: {str(error).partition(chr(10))[0]}") from error
        return returned

    def _copy_out(self, place: torch.Tensor) -> tuple[protocol.ReturnedSpec, ...]:
        """Copy outputs, contiguous; one that does not fit cannot have the expected shape, and is only reported."""
        views = self._command.tape.returned
        placed, _ = tensors.place([bytes_of(view) if view is not None else 0 for view in views])
        specs: list[protocol.ReturnedSpec] = []
        for view, spot in zip(views, placed, strict=True):
            if view is None:
                specs.append(no_tensor())
                continue
            if spot.bytes and spot.offset + spot.bytes <= place.numel():
                elements = self.memory.view(view).contiguous()
                # One element is contiguous whatever its stride, and `reshape` leaves the stride as it is.
                column = elements.as_strided((elements.numel(),), (1,))
                tensors.part(place, spot).copy_(column.view(torch.uint8))
            specs.append(returned_spec(view, spot.offset, spot.bytes))
        return tuple(specs)
