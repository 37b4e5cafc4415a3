"""The slots of a benchmark: new random inputs in device memory that the worker shares.

A slot is one whole set of a case's inputs with a place for its outputs, guard zones around each.  Its content is made
on the device, right before the calls that read it, from a seed that is drawn here and never sent; outputs are compared
with the answer to a private copy of it.
"""

from __future__ import annotations

import functools
import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch

from engine import protocol
from engine.clock.instruments import Instruments, instruments_of
from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError, UsageError
from engine.judge.baselines import BaselineError
from engine.judge.benchmark import slot_checks
from engine.judge.benchmark.baseline_times import BaselineTimes
from engine.judge.benchmark.peaks import event_timer, measure_peaks
from engine.judge.benchmark.slot_checks import Layout, Written
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import expected_outputs, lay_out, returned_count
from engine.model import Case, ProblemDefinition, ProblemId
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments

_LEAST_SLOTS = 4
_TIMES_THE_CACHE = 5
_WAITED_FOR_BYTES = 1 << 30  # private copies of results, before the device is synchronised
_TOGETHER_BYTES = 1 << 27  # copies compared at once: the comparison holds several float64 versions of them
_BEYOND_THIS_MACHINE = (UnsupportedError, UsageError, BaselineError, DeviceMemoryError, torch.OutOfMemoryError)


class Block(Protocol):
    """Device memory that other processes can open, implemented by `device_memory.DeviceBlock`."""

    handle: str
    size_bytes: int
    content: torch.Tensor


@dataclass(kw_only=True)
class _Arranged:
    """A case and its slots; `images` are the private copies of each slot's last content.

    `poisons` has the block that it was written to, and the byte in all memory without content.
    """

    layout: Layout
    blocks: tuple[Block, ...]
    images: torch.Tensor
    times: BaselineTimes
    poisons: dict[int, tuple[int, int]] = field(default_factory=dict)

    def slot(self, number: int, block: int) -> torch.Tensor:
        """The bytes of a slot, which the worker of this block may be writing to."""
        return self.blocks[block].content[number * self.layout.bytes : (number + 1) * self.layout.bytes]


class Slots:
    """Carries out the judge's commands of a benchmark."""

    def __init__(
        self,
        device: torch.device,
        problem_of: Callable[[ProblemId], ProblemDefinition],
        *,
        instruments: Instruments | None = None,
        memory: Callable[[int, int], Block] | None = None,
    ) -> None:
        self._device = device
        self._problem_of = problem_of
        self._instruments = instruments
        self._memory = memory or memory_by_block(functools.partial(cases.ArenaMemory, device))
        self._arranged: _Arranged | None = None
        self._granted_bytes = 0

    def carry_out(
        self,
        command: protocol.Arrange
        | protocol.Refresh
        | protocol.Check
        | protocol.PrepareBaseline
        | protocol.TimeBaseline
        | protocol.MeasurePeaks
        | protocol.FreeSlots,
    ) -> protocol.AnyReply:
        """Carry out one command; a Failed with UNSUPPORTED if the machine cannot; errors are raised."""
        try:
            match command:
                case protocol.Arrange():
                    return self._arrange(command)
                case protocol.Refresh():
                    return self._refresh(command)
                case protocol.Check():
                    return self._check(command)
                case protocol.PrepareBaseline():
                    arranged = self._arranged_slots()
                    inputs = self._inputs(arranged.layout.problem, arranged.layout.case)
                    return arranged.times.prepare(command, arranged.layout, inputs)
                case protocol.TimeBaseline():
                    arranged = self._filled(command.slots)
                    return arranged.times.time(command, arranged.layout, arranged.images)
                case protocol.MeasurePeaks():
                    peaks = measure_peaks(self._device, timer=event_timer(self._device))
                    return protocol.PeaksMeasured(
                        id=command.id, copy_bytes_per_s=peaks.copy_bytes_per_s, flops_per_s=dict(peaks.flops_per_s)
                    )
                case protocol.FreeSlots():
                    self._free_slots()
                    return protocol.Done(id=command.id)
        except _BEYOND_THIS_MACHINE as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))

    def _arrange(self, command: protocol.Arrange) -> protocol.Arranged:
        self._free_slots()
        instruments = self._equipped()
        problem = self._problem_of(command.problem)
        layout = self._layout(problem, problem.case(command.case))
        # Memory allocated before is still ours: our blocks are never freed and must not count as used by others.
        most_bytes = max(command.most_bytes, self._granted_bytes)
        slots = slots_for(
            layout, cache_bytes=instruments.cache_bytes, most_slots=command.most_slots, most_bytes=most_bytes
        )
        blocks = tuple(self._memory(number, slots * layout.bytes) for number in range(command.blocks))
        images = torch.empty((slots, layout.bytes), dtype=torch.uint8, device=self._device)
        self._granted_bytes = max(self._granted_bytes, slots * layout.bytes)
        self._arranged = _Arranged(
            layout=layout, blocks=blocks, images=images, times=BaselineTimes(self._device, instruments)
        )
        return protocol.Arranged(
            id=command.id,
            arguments=layout.specs,
            layouts=tuple(
                protocol.SlotLayout(
                    handle=block.handle,
                    bytes=block.size_bytes,
                    first=0,
                    stride=layout.bytes,
                    slots=slots,
                    storages=layout.storages,
                    outputs=layout.outputs,
                )
                for block in blocks
            ),
            slot_bytes=layout.content_bytes,
            l2_bytes=instruments.cache_bytes,
        )

    def _layout(self, problem: ProblemDefinition, case: Case) -> Layout:
        """Layout of a slot, determined with content that is discarded."""
        inputs = self._inputs(problem, case)
        specs, storages = lay_out(problem, inputs)
        with self._device:
            expected = expected_outputs(problem, inputs)
        room = cases.output_bytes(expected[: returned_count(problem, specs, expected)])
        placed, size_bytes = tensors.place([*(storage.numel() for storage in storages), room])
        return Layout(
            problem=problem, case=case, specs=specs, storages=placed[:-1], outputs=placed[-1], bytes=size_bytes
        )

    def _refresh(self, command: protocol.Refresh) -> protocol.Done:
        arranged = self._arranged_slots()
        for number in command.slots:
            poison = 1 + secrets.randbelow(255)  # never 0, which a missing write often leaves anyway
            self._write(arranged.layout, arranged.images[number], poison)
            arranged.poisons[number] = command.block, poison
            arranged.slot(number, command.block).copy_(arranged.images[number])
        self._equipped().synchronise()  # the worker's streams are not ordered after ours
        return protocol.Done(id=command.id)

    def _write(self, layout: Layout, image: torch.Tensor, poison: int) -> None:
        """Write content of a new seed to a private image, and the byte `poison` everywhere else."""
        specs, storages = lay_out(layout.problem, self._inputs(layout.problem, layout.case))
        if specs != layout.specs:
            raise ValueError(f"{layout.problem.name}: shapes and scalars of {layout.case.name} depend on the seed")
        image.fill_(poison)
        for number, (place, storage) in enumerate(zip(layout.storages, storages, strict=True)):
            if number not in layout.written_only:
                tensors.part(image, place).copy_(storage)

    def _check(self, command: protocol.Check) -> protocol.AnyReply:
        arranged = self._filled(command.slots, block=command.block)
        if len(command.returned) != len(command.slots):
            message = f"the worker reported {len(command.returned)} returned calls, expected {len(command.slots)}"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.TAMPERED, message=message)
        self._equipped().synchronise()
        right = 0
        first: tuple[int, slot_checks.Explained] | None = None
        for some in _groups(range(len(command.slots)), at_a_time=_WAITED_FOR_BYTES // arranged.layout.bytes):
            left, suspects = self._look(arranged, command, some)
            # tolist() is the only synchronisation with the device.
            for position, one, suspect in zip(some, left, suspects.tolist(), strict=True):
                found = slot_checks.explain(arranged.layout, one) if suspect else None
                if found is None or not found.is_wrong:
                    right += 1
                elif first is None:
                    first = (position, found)
        if first is None:
            return protocol.Checked(id=command.id, right=right)
        position, found = first
        return protocol.Checked(
            id=command.id, right=right, first_wrong=position, reports=found.reports, trouble=found.trouble
        )

    def _look(
        self, arranged: _Arranged, command: protocol.Check, some: range
    ) -> tuple[list[slot_checks.Left], torch.Tensor]:
        """Outputs of these calls, by their positions in the command, and those that may be wrong."""
        left: list[slot_checks.Left] = []
        suspects: list[torch.Tensor] = []
        for group in _groups(some, at_a_time=_TOGETHER_BYTES // arranged.layout.bytes):
            numbers = [command.slots[position] for position in group]
            finals = torch.stack([arranged.slot(number, command.block) for number in numbers])
            written = [
                Written(image=arranged.images[number], final=final, poison=arranged.poisons[number][1])
                for number, final in zip(numbers, finals, strict=True)
            ]
            with self._device:
                returned = [command.returned[position] for position in group]
                found, suspicious = slot_checks.look(arranged.layout, written, finals, returned)
            left += found
            suspects.append(suspicious)
        return left, torch.cat(suspects)

    def _inputs(self, problem: ProblemDefinition, case: Case) -> Arguments:
        """New random inputs, made on the device."""
        with self._device:
            return problem.make_inputs(case, torch.Generator(self._device).manual_seed(secrets.randbits(62)))

    def _free_slots(self) -> None:
        # The block is not freed: a worker that has it open would be left with an undefined mapping.
        if self._arranged is not None:
            self._arranged.times.forget()
            self._arranged = None
            runtime_of(
                self._device
            ).release_cached_memory()  # the driver allocates the next block and cannot use torch's cached memory

    def _equipped(self) -> Instruments:
        if self._instruments is None:
            self._instruments = instruments_of(self._device)
        return self._instruments

    def _arranged_slots(self) -> _Arranged:
        if self._arranged is None:
            raise RuntimeError("no slots were arranged")
        return self._arranged

    def _filled(self, numbers: tuple[int, ...], *, block: int | None = None) -> _Arranged:
        """The arranged slots; all of these were refreshed at least once, and last in this block if one is given."""
        arranged = self._arranged_slots()
        for number in numbers:
            written = arranged.poisons.get(number)
            if written is None or block not in (None, written[0]):
                where = "" if block is None else f" in block {block}"
                raise RuntimeError(f"slot {number} was never refreshed{where}")
        return arranged


def memory_by_block(make: Callable[[], cases.ArenaMemory]) -> Callable[[int, int], Block]:
    """A function from a block's number and least size in bytes to its memory; no two numbers share memory."""
    memories: dict[int, cases.ArenaMemory] = {}

    def block(number: int, size_bytes: int) -> Block:
        return memories.setdefault(number, make()).block(size_bytes)

    return block


def slots_for(layout: Layout, *, cache_bytes: int, most_slots: int, most_bytes: int) -> int:
    """Number of slots that together exceed the cache several times, within the limits.

    Raises:
        UnsupportedError: not even the least number fits.
    """
    fitting = min(most_slots, most_bytes // layout.bytes)
    if fitting < _LEAST_SLOTS:
        raise UnsupportedError(
            f"{layout.case.name} needs {_LEAST_SLOTS} input sets of {layout.bytes} bytes, and there is room for "
            f"{fitting} ({most_bytes} bytes); stop other programs on the device, or time a smaller case"
        )
    wanted = math.ceil(_TIMES_THE_CACHE * cache_bytes / max(1, layout.content_bytes))
    return min(max(_LEAST_SLOTS, wanted), fitting)


def _groups(positions: range, *, at_a_time: int) -> Iterator[range]:
    """Consecutive groups of `at_a_time` positions, at least one position each."""
    step = max(1, at_a_time)
    return (positions[begin : begin + step] for begin in range(0, len(positions), step))
