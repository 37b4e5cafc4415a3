"""One case under verification: content that only the judge has, memory that the worker maps, and expected outputs.

Inputs and expected outputs of a case are kept for the next save: the first calls of a case may use content that an
earlier candidate has had, which is why every case whose content is kept also gets a call on new content.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import torch

from engine import protocol
from engine.devices.hardware.device_memory import DeviceBlock, DeviceMemoryError
from engine.draws import Draws
from engine.judge.compare.measures import raw
from engine.judge.compare.outputs import Call
from engine.judge.inputs.copied_arena import CopiedArena
from engine.judge.inputs.memory_need import available_bytes, require_room
from engine.judge.inputs.outputs import (
    expected_outputs,
    lay_out,
    output_names,
    returned_values,
    written_specs,
    written_values,
)
from engine.model import Case, OutputReport, ProblemDefinition, Tier
from engine.protocol import tensors
from engine.sandbox.untrusted_files import read_untrusted

if TYPE_CHECKING:
    from engine.model import Value

Arena: TypeAlias = tensors.ArenaFile | tensors.DeviceArena | CopiedArena

_KEPT_BYTES = 512 << 20
_LEAST_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Content:
    """Inputs of a case and the outputs expected of them; these tensors are never changed.

    `make_expected` makes the expected outputs, once and when they are first needed: a call that is only recorded is
    never compared.  `rounding` is as in `engine.judge.compare.outputs.Call`.
    """

    seed: int
    inputs: tuple[Value, ...]
    specs: tuple[protocol.ValueSpec, ...]
    storages: list[torch.Tensor]
    make_expected: Callable[[], tuple[torch.Tensor, ...]] = field(repr=False)
    rounding: tuple[float, ...] = ()

    @functools.cached_property
    def expected(self) -> tuple[torch.Tensor, ...]:
        """The expected outputs."""
        return self.make_expected()

    @functools.cached_property
    def bytes(self) -> int:
        """The memory of all tensors, expected outputs included."""
        parts = (*self.storages, *self.expected)
        return sum(part.numel() * part.element_size() for part in parts)


@dataclass(frozen=True, kw_only=True)
class MadeVariant:
    """A variant of a case: its content, or why it cannot decide about a candidate.

    Made from the content `before`, which was the current one then; `changed` and `kept` are as in VariantLaidOut.
    """

    variant: protocol.Variant
    before: Content
    content: Content | None = None
    why: str = ""
    changed: str = ""
    kept: tuple[str, ...] = ()


@dataclass(kw_only=True)
class PreparedCase:
    """A case and its arena: the content written for the current call, and the outputs expected of it.

    `free` are the tensors whose numbers may be replaced, None until they are needed; `fresh` is the next new content
    and `prepared_variant` the variant, if they were made ahead.  `draws` gives the seeds of further contents.
    """

    problem: ProblemDefinition
    case: Case
    arena: Arena
    base: Content
    content: Content
    initial: list[torch.Tensor] = field(default_factory=list)
    draws: Draws = field(default_factory=Draws)
    poison: int = 0
    free: tuple[protocol.TensorSpec, ...] | None = None
    fresh: Content | None = None
    prepared_variant: MadeVariant | None = None
    first_outputs: list[torch.Tensor] = field(default_factory=list)
    first_reports: tuple[OutputReport, ...] = ()


def _on(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Context in which tensors are made on a device; none for the host, as a context costs time in each operation."""
    return contextlib.nullcontext() if device.type == "cpu" else device


class Contents:
    """Makes contents on the judge's device, and keeps those of the cases used last."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._kept: OrderedDict[tuple[ProblemDefinition, str], Content] = OrderedDict()
        self._shapes: dict[tuple[ProblemDefinition, str], protocol.Shape] = {}

    def of_case(self, problem: ProblemDefinition, case: Case, seed: int | None) -> Content:
        """The kept content, made first if there is none; with a `seed`, the content of that seed.

        Contents are kept only of cases that get a call on new content as well: all of them on a device.
        """
        key = (problem, case.name)
        if seed is not None:
            return self.make(problem, case, seed)
        if self._device.type == "cpu" and case.tier is not Tier.SMOKE:
            return self.make(problem, case, secrets.randbits(62))
        if key not in self._kept:
            made = self.make(problem, case, secrets.randbits(62))
            _ = made.expected  # computed now: content whose reference fails is not kept
            self._kept[key] = made
        self._kept.move_to_end(key)
        content = self._kept[key]
        while len(self._kept) > 1 and sum(kept.bytes for kept in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return content

    def shape_of(self, problem: ProblemDefinition, case: Case, *, keeps: bool = True) -> protocol.Shape:
        """Shapes of the arguments of a case; its content is kept with `keeps`, unless it is a case for timing."""
        key = (problem, case.name)
        if key not in self._shapes:
            if case.tier is Tier.BENCH or not keeps:
                with _on(self._device):
                    inputs = problem.make_inputs(case, torch.Generator(self._device).manual_seed(secrets.randbits(62)))
                specs, storages = lay_out(problem, inputs)
            else:
                content = self.of_case(problem, case, None)
                specs, storages = content.specs, content.storages
            self._shapes[key] = protocol.Shape(arguments=specs, storages=tuple(part.numel() for part in storages))
        return self._shapes[key]

    def make(self, problem: ProblemDefinition, case: Case, seed: int) -> Content:
        """New content from this seed; the same seed makes the same content on the same kind of device.

        Raises:
            DeviceMemoryError: the device is the host, and its memory is too small for the content.
        """
        if self._device.type == "cpu":
            cost = problem.cost(case)
            require_room(case, cost, available_bytes=available_bytes(cost))
        with _on(self._device):
            inputs = problem.make_inputs(case, torch.Generator(self._device).manual_seed(seed))
            specs, storages = lay_out(problem, inputs)
        make_expected = functools.partial(self._expected, problem, inputs)
        return Content(seed=seed, inputs=inputs, specs=specs, storages=storages, make_expected=make_expected)

    def _expected(self, problem: ProblemDefinition, inputs: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
        with _on(self._device):
            return expected_outputs(problem, inputs)


class ArenaMemory:
    """The device memory that arenas are in: one block, and a larger one when a case needs it.

    A block is never freed: a worker that has it open would be left with an undefined mapping, and the judge does not
    learn when workers exit.  Each is at least twice the one before if there is room for that, so that all of them
    together stay below four times what a case has needed.
    """

    def __init__(
        self, device: torch.device, *, allocate: Callable[[int, torch.device], DeviceBlock] = DeviceBlock
    ) -> None:
        self._device = device
        self._allocate = allocate
        self._blocks: list[DeviceBlock] = []

    def block(self, size_bytes: int) -> DeviceBlock:
        """A block of at least this many bytes.

        Raises:
            DeviceMemoryError: there is no room for it, or it cannot be shared.
        """
        if not self._blocks or self._blocks[-1].size_bytes < size_bytes:
            least = self._blocks[-1].size_bytes * 2 if self._blocks else _LEAST_BLOCK_BYTES
            self._blocks.append(self._allocated(max(least, size_bytes), size_bytes))
        return self._blocks[-1]

    def _allocated(self, comfortable_bytes: int, needed_bytes: int) -> DeviceBlock:
        try:
            return self._allocate(comfortable_bytes, self._device)
        except DeviceMemoryError:
            torch.cuda.empty_cache()  # the driver allocates the block and cannot use torch's cached memory
            return self._allocate(needed_bytes, self._device)


def arena_in_file(content: Content, path: Path, *, first: int = 0) -> tensors.ArenaFile:
    """A new file of shared memory for this content, behind its `first` bytes."""
    placed, size_bytes = tensors.place([storage.numel() for storage in content.storages], first=first)
    return tensors.ArenaFile(protocol.ArenaSpec(path=str(path), storages=placed, bytes=size_bytes))


def arena_on_device(content: Content, memory: ArenaMemory, *, first: int = 0) -> tensors.DeviceArena:
    """A place in device memory for this content and for the outputs of the entry, behind the `first` bytes."""
    sizes = [storage.numel() for storage in content.storages]
    placed, size_bytes = tensors.place([*sizes, output_bytes(content.expected)], first=first)
    block = memory.block(size_bytes)
    spec = protocol.ArenaSpec(
        handle=block.handle, storages=placed[:-1], outputs=placed[-1], bytes=size_bytes, block_bytes=block.size_bytes
    )
    return tensors.DeviceArena(spec, block.content)


def on_host(content: Content) -> Content:
    """The content in host memory, as it is written to a file."""
    if all(storage.device.type == "cpu" for storage in content.storages):
        return content
    return Content(
        seed=content.seed,
        inputs=content.inputs,
        specs=content.specs,
        storages=[storage.cpu() for storage in content.storages],
        make_expected=lambda: tuple(value.cpu() for value in content.expected),
        rounding=content.rounding,
    )


def output_bytes(expected: tuple[torch.Tensor, ...]) -> int:
    """Bytes for outputs of these shapes, each at a multiple of the alignment."""
    _, size_bytes = tensors.place([value.numel() * value.element_size() for value in expected])
    return size_bytes


def fill(prepared: PreparedCase, content: Content, poison: int) -> None:
    """Write a content to the arena, written-only arguments and guard zones as poison."""
    prepared.content = content
    prepared.poison = poison
    prepared.initial = [storage.clone() for storage in content.storages]
    for name, spec in zip(prepared.problem.arguments, content.specs, strict=True):
        for part in protocol.tensor_specs(spec) if name in prepared.problem.written_only else ():
            prepared.initial[part.storage].fill_(poison)
    prepared.arena.write(prepared.initial, guard=poison)


def returned_bytes(
    prepared: PreparedCase,
    command: protocol.Compare
    | protocol.TakeSnapshot
    | protocol.CountCorrect
    | protocol.CompareReading
    | protocol.MeasurePrecision,
) -> torch.Tensor:
    """A private copy of the bytes of everything that the entry returned.

    Raises:
        UntrustedFileError: the worker has left no readable file.
    """
    if not isinstance(prepared.arena, tensors.ArenaFile):
        return prepared.arena.outputs()
    sent = bytearray(read_untrusted(Path(command.outputs), max_bytes=command.max_output_bytes))
    return torch.frombuffer(sent, dtype=torch.uint8) if sent else torch.empty(0, dtype=torch.uint8)


def outputs_of(
    prepared: PreparedCase,
    command: protocol.Compare | protocol.CountCorrect | protocol.MeasurePrecision,
    final: list[torch.Tensor],
) -> list[torch.Tensor | OutputReport]:
    """Returned values of the current call, and the `final` content of arguments written in place.

    Raises:
        UntrustedFileError: the worker has left no readable file.
    """
    problem, content = prepared.problem, prepared.content
    returned = returned_values(
        problem, content.specs, command.returned, content.expected, lambda: returned_bytes(prepared, command)
    )
    return [*returned, *written_values(problem, content.specs, final)]


def finished_call(prepared: PreparedCase, got: Sequence[torch.Tensor | OutputReport]) -> Call:
    """The current call with these outputs, for comparison."""
    content = prepared.content
    return Call(
        problem=prepared.problem,
        case=prepared.case,
        arguments=content.inputs,
        names=output_names(prepared.problem, content.specs, content.expected),
        got=got,
        expected=content.expected,
        rounding=content.rounding,
    )


def is_idle(problem: ProblemDefinition, content: Content) -> bool:
    """Whether the reference changes nothing: it returns nothing, and in-place outputs equal their earlier content."""
    if problem.returns != 0 or problem.written_only:
        return False
    before = [tensors.view(spec, content.storages[spec.storage]) for _, spec in written_specs(problem, content.specs)]
    return all(torch.equal(raw(old), raw(new)) for old, new in zip(before, content.expected, strict=True))


def mutated(
    problem: ProblemDefinition,
    specs: tuple[protocol.ValueSpec, ...],
    initial: list[torch.Tensor],
    final: list[torch.Tensor],
) -> str | None:
    """A forbidden change, in words: of an input, or of memory between the elements of an output; None without one."""
    owners = storage_owners(problem, specs)
    untouchable = list(initial)
    for _, part in written_specs(problem, specs):
        if untouchable[part.storage] is initial[part.storage]:
            untouchable[part.storage] = initial[part.storage].clone()
        tensors.view(part, untouchable[part.storage]).copy_(tensors.view(part, final[part.storage]))
    pairs = [(after, allowed) for after, allowed in zip(final, untouchable, strict=True) if after.numel()]
    if not pairs or not _differ(pairs):
        return None
    for number, (after, allowed) in enumerate(zip(final, untouchable, strict=True)):
        if not torch.equal(after, allowed) and not set(owners[number]) & set(problem.may_write):
            written = [name for name in owners[number] if name in problem.mutates]
            if written:
                return f"memory between the elements of {written[0]} was overwritten"
            return f"input {owners[number][0]} was changed; the signature does not say that it is written"
    return None


def _differ(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Whether any of these pairs differs, with one synchronisation; nearly always none does."""
    if pairs[0][0].device.type == "cpu":
        return not all(torch.equal(after, allowed) for after, allowed in pairs)
    return bool(torch.stack([(after != allowed).any() for after, allowed in pairs]).any())


def overrun(problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], damage: tensors.Damage) -> str:
    """Description of a write to a guard zone: the argument beside it, and on which side."""
    owners = {number: f"argument {names[0]}" for number, names in storage_owners(problem, specs).items()}
    past_an_end = damage.zone > 0 and (damage.zone == damage.zones - 1 or not damage.nearer_to_end)
    owner = owners.get(damage.zone - past_an_end, "the output buffer")
    where = f"past the end of {owner}" if past_an_end else f"before the beginning of {owner}"
    size = "1 byte" if damage.changed_bytes == 1 else f"{damage.changed_bytes} bytes"
    return f"memory {where} was written ({size}): a store without a mask, or with a wrong one"


def storage_owners(problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...]) -> dict[int, list[str]]:
    """Storage numbers, each with the arguments that view it."""
    owners: dict[int, list[str]] = {}
    for name, spec in zip(problem.arguments, specs, strict=True):
        for part in protocol.tensor_specs(spec):
            owners.setdefault(part.storage, []).append(name)
    return owners
