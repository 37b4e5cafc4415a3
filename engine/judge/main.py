"""The judge's main loop: prepare a case, refill its buffers, compare, and forget."""

from __future__ import annotations

import hashlib
import importlib
import math
import platform
import secrets
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from engine import tensors, wire
from engine.judge.compare import compare
from engine.model import Case, Outcome, OutputReport, Problem
from engine.processes.service import Line
from engine.untrusted import UntrustedFileError, read_untrusted

if TYPE_CHECKING:
    from engine.model import Value

_THREADS = 2
_MOST_DIMENSIONS, _MOST_ELEMENTS = 64, 1 << 59  # past them torch cannot even describe an empty tensor


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Say that we are there, and carry out commands."""
    torch.set_num_threads(_THREADS)
    line = Line(commands, replies)
    versions = {"torch": str(torch.__version__), "python": platform.python_version()}
    line.reply(wire.Ready(id="ready", confinement=in_force, versions=versions))
    line.serve(_Judge().carry_out)


@dataclass(kw_only=True)
class _CaseInHand:
    """One case being judged: what was written to the arena for the current call, and what must come of it."""

    problem: Problem
    case: Case
    arena: tensors.ArenaFile
    specs: tuple[wire.ValueSpec, ...]
    seed: int
    inputs: tuple[Value, ...] = ()
    initial: list[torch.Tensor] = field(default_factory=list)
    expected: tuple[torch.Tensor, ...] = ()
    poison: int = 0


class _Judge:
    def __init__(self) -> None:
        self._problems: dict[str, Problem] = {}
        self._hand: _CaseInHand | None = None

    def carry_out(self, command: wire.AnyCommand) -> wire.AnyReply:
        try:
            match command:
                case wire.Prepare():
                    return self._prepare(command)
                case wire.Refill():
                    return self._refill(command)
                case wire.Compare():
                    return self._compare(command)
                case wire.Release():
                    seed = self._hand.seed if self._hand is not None else None
                    self._let_go()
                    return wire.Released(id=command.id, seed=seed)
        except (tensors.TruncatedError, UntrustedFileError) as error:
            return wire.Failed(id=command.id, kind=wire.FailureKind.TAMPERED, message=str(error))
        except Exception as error:  # the edge of the process: a fault of a problem or of ours, told to the parent
            message = f"{type(error).__name__}: {error}"
            return wire.Failed(
                id=command.id, kind=wire.FailureKind.ENGINE, message=message, trace=traceback.format_exc()
            )
        message = f"a judge does not {type(command).__name__.lower()}"
        return wire.Failed(id=command.id, kind=wire.FailureKind.ENGINE, message=message)

    def _prepare(self, command: wire.Prepare) -> wire.Prepared:
        started = time.perf_counter()
        problem = self._problem(command.origin)
        case = problem.case(command.case)
        seed = secrets.randbits(62) if command.seed is None else command.seed
        inputs = problem.make_inputs(case, torch.Generator().manual_seed(seed))
        specs, arena_spec, storages = tensors.lay_out(inputs, Path(command.arena_path or ""))
        self._let_go()
        arena = tensors.ArenaFile(arena_spec)
        self._hand = _CaseInHand(problem=problem, case=case, arena=arena, specs=specs, seed=seed)
        self._fill(self._hand, inputs, storages, command.poison)
        return wire.Prepared(id=command.id, arguments=specs, arena=arena_spec, elapsed_s=time.perf_counter() - started)

    def _refill(self, command: wire.Refill) -> wire.Done:
        hand = self._in_hand()
        inputs = hand.inputs
        if command.fresh:
            # The seed after the case's own, so that a replay of the case meets the same new content.
            inputs = hand.problem.make_inputs(hand.case, torch.Generator().manual_seed(hand.seed + 1))
        specs, _, storages = tensors.lay_out(inputs, Path(hand.arena.spec.path))
        if specs != hand.specs:
            raise ValueError(f"{hand.problem.origin}: shapes and scalars of {hand.case.name} depend on the seed")
        self._fill(hand, inputs, storages, command.poison)
        return wire.Done(id=command.id)

    def _fill(self, hand: _CaseInHand, inputs: tuple[Value, ...], storages: list[torch.Tensor], poison: int) -> None:
        """Write inputs to the arena, written-only arguments as poison, and work out what must come of them."""
        if inputs is not hand.inputs:
            hand.inputs = inputs
            hand.expected = _as_tuple(hand.problem.reference(*(_private(value) for value in inputs)))
        hand.poison = poison
        hand.initial = [storage.clone() for storage in storages]
        for name, spec in zip(hand.problem.arguments, hand.specs, strict=True):
            if name in hand.problem.written_only and isinstance(spec, wire.TensorSpec):
                hand.initial[spec.storage].fill_(poison)
        hand.arena.write(hand.initial)

    def _compare(self, command: wire.Compare) -> wire.Compared:
        hand = self._in_hand()
        final = hand.arena.read()  # ours from here on: the worker may still be writing
        got = self._returned(hand, command) + self._written(hand, final)
        names = [name for name in hand.problem.outputs if not self._absent(hand, name)]
        tolerance = hand.problem.tolerance(hand.case)
        reports: list[OutputReport] = []
        digest = hashlib.sha256()
        for name, value, expected in zip(names, got, hand.expected, strict=True):
            if isinstance(value, OutputReport):
                reports.append(value)
                continue
            reports.append(compare(name, value, expected, tolerance, poison=hand.poison))
            digest.update(_bytes(value))
        return wire.Compared(
            id=command.id, reports=tuple(reports), digest=digest.hexdigest(), mutated=self._mutated(hand, final),
        )  # fmt: skip

    def _returned(self, hand: _CaseInHand, command: wire.Compare) -> list[torch.Tensor | OutputReport]:
        """What the entry returned, as tensors of ours, or a report of why it is none."""
        wanted = hand.problem.returns
        if wanted == 0:
            return []
        names = hand.problem.outputs[:wanted]
        if len(command.returned) != wanted:
            message = f"the entry returned {len(command.returned)} values, expected {wanted}"
            return [OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=message) for name in names]
        content = read_untrusted(Path(command.outputs), max_bytes=command.max_output_bytes)
        return [_take(name, spec, content) for name, spec in zip(names, command.returned, strict=True)]

    def _written(self, hand: _CaseInHand, final: list[torch.Tensor]) -> list[torch.Tensor | OutputReport]:
        specs = dict(zip(hand.problem.arguments, hand.specs, strict=True))
        written = (specs[name] for name in hand.problem.mutates)
        return [
            tensors.view(spec, final[spec.storage]).contiguous()
            for spec in written
            if isinstance(spec, wire.TensorSpec)
        ]

    def _absent(self, hand: _CaseInHand, name: str) -> bool:
        """Whether an argument that is written in place is None in this case."""
        if name not in hand.problem.mutates:
            return False
        return not isinstance(hand.specs[hand.problem.arguments.index(name)], wire.TensorSpec)

    def _mutated(self, hand: _CaseInHand, final: list[torch.Tensor]) -> str | None:
        """What changed and should not have: an input, or memory between the elements of an output."""
        owners: dict[int, list[str]] = {}
        untouchable = [storage.clone() for storage in hand.initial]
        for name, spec in zip(hand.problem.arguments, hand.specs, strict=True):
            for part in _tensor_specs(spec):
                owners.setdefault(part.storage, []).append(name)
                if name in hand.problem.mutates:
                    tensors.view(part, untouchable[part.storage]).copy_(tensors.view(part, final[part.storage]))
        for number, (after, allowed) in enumerate(zip(final, untouchable, strict=True)):
            if not torch.equal(after, allowed):
                names = owners[number]
                written = [name for name in names if name in hand.problem.mutates]
                if written:
                    return f"memory between the elements of {written[0]} was overwritten"
                return f"input {names[0]} was changed; the signature does not say that it is written"
        return None

    def _problem(self, origin: str) -> Problem:
        if origin not in self._problems:
            module, _, attribute = origin.partition(":")
            problem = getattr(importlib.import_module(module), attribute)
            if not isinstance(problem, Problem):
                raise TypeError(f"{origin} is a {type(problem).__name__}, expected a Problem")
            self._problems[origin] = problem
        return self._problems[origin]

    def _let_go(self) -> None:
        if self._hand is not None:
            self._hand.arena.close()
            self._hand = None

    def _in_hand(self) -> _CaseInHand:
        if self._hand is None:
            raise RuntimeError("no case was prepared")
        return self._hand


def _take(name: str, spec: wire.ReturnedSpec, content: bytes) -> torch.Tensor | OutputReport:
    """A returned tensor from its raw bytes; nothing in `spec` is believed before it fits them."""
    if spec.type_name != "Tensor":
        message = f"the entry returned {spec.type_name}, expected Tensor"
        return OutputReport(name=name, outcome=Outcome.WRONG_DTYPE, message=message)
    try:
        dtype = tensors.dtype_named(spec.dtype)
    except ValueError as error:
        return OutputReport(name=name, outcome=Outcome.WRONG_DTYPE, message=str(error))
    if len(spec.shape) > _MOST_DIMENSIONS or math.prod(size for size in spec.shape if size) > _MOST_ELEMENTS:
        return OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=f"{name} claims a shape beyond all sizes")
    elements = math.prod(spec.shape)
    if elements * dtype.itemsize != spec.bytes or spec.offset + spec.bytes > len(content):
        message = f"{name} claims shape {spec.shape} but has {spec.bytes} bytes"
        return OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=message)
    if elements == 0:
        return torch.empty(spec.shape, dtype=dtype)
    raw = bytearray(content[spec.offset : spec.offset + spec.bytes])
    return torch.frombuffer(raw, dtype=dtype).view(spec.shape)


def _bytes(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def _tensor_specs(spec: wire.ValueSpec) -> list[wire.TensorSpec]:
    if isinstance(spec, wire.TensorSpec):
        return [spec]
    if isinstance(spec, wire.SequenceSpec):
        return [part for item in spec.items for part in _tensor_specs(item)]
    return []


def _private(value: Value) -> Value:
    """A copy that a reference may do with as it likes; strides are kept."""
    if isinstance(value, torch.Tensor):
        storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).clone()
        copy = torch.empty(0, dtype=value.dtype)
        return copy.set_(storage.untyped_storage(), value.storage_offset(), value.shape, value.stride())
    if isinstance(value, list):
        return [_private(item) for item in value]
    return tuple(_private(item) for item in value) if isinstance(value, tuple) else value


def _as_tuple(outputs: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs)
