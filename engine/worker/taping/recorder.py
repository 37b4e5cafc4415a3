"""Records the tape of one call: its steps in order, as reported by the ledger of operators and by launches."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from engine.clock.returned import is_plain_tensor
from engine.clock.safe_torch import Base, without_functions, without_modes
from engine.model import Launch, specialisation
from engine.protocol.launches import MOST_LAUNCHES
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    MOST_ADDRESSES,
    MOST_ARGUMENTS,
    MOST_READS,
    MOST_STEPS,
    MOST_TAPE_BYTES,
    Addressed,
    ClaimedKernel,
    Filled,
    Given,
    HostRead,
    Launched,
    LookedUp,
    Moved,
    Step,
    Tape,
    TapedArgument,
    TapedDescriptor,
    TapedNumber,
    TapedPlace,
    TapedValue,
    TapedView,
    makes_pointers,
)
from engine.worker.frames import line_in
from engine.worker.launches.plain_arguments import is_opaque, plain_number, tensor_of
from engine.worker.launches.records import is_constexpr, parts_of
from engine.worker.operands import dtype_of, elements_of, has_memory, is_meta, is_strided, tensors_in
from engine.worker.taping.copies import computing_copy, is_replayed
from engine.worker.taping.graphs import Capture
from engine.worker.taping.memory import OverfullError, TapedMemory, view_of
from engine.worker.taping.numbers import element_of, number_of
from engine.worker.taping.steps import PendingLaunch
from engine.worker.taping.unread import UnreadWrites

_MOST_DATA_BYTES = MOST_TAPE_BYTES // 2  # of constants, before they are written as base64
_NAME_CHARACTERS, _REASON_CHARACTERS = 200, 1000
_ADDRESS = struct.Struct("<q")
_WORDS = (torch.int64, torch.uint64)  # that may be addresses

# Kernels take any arguments, and torch has no public names for operators: Any throughout this file.


class TapeRecorder:
    """Records while `of_call` is open; one per process.

    `capture` receives the steps while a CUDA graph is captured, and `is_in_graph` is true while the steps of a replayed
    graph are added.  `sees_operators` is whether the operators called now are reported.
    """

    def __init__(self) -> None:
        self.is_on = self.sees_operators = self.is_in_graph = False
        self.capture: Capture | None
        self._start((), "")

    def _start(self, storages: Iterable[torch.Tensor], filename: str) -> None:
        """Begin an empty tape."""
        self._filename = filename
        self.capture = None  # drops a capture that never ended
        self._memory = TapedMemory(storages)
        self._steps: list[Step] = []
        self._unread = UnreadWrites()
        self._specialisations: dict[tuple[object, ...], tuple[int, Launch]] = {}
        self._claimed: list[ClaimedKernel] = []
        self._reads: list[HostRead] = []
        self._incomplete = ""
        self._data_bytes = 0

    @contextlib.contextmanager
    def of_call(
        self,
        storages: Iterable[torch.Tensor],
        filename: str,
        *,
        host_copies: Iterable[tuple[torch.Tensor, torch.Tensor]] = (),
    ) -> Iterator[None]:
        """Context that records a call whose arguments view these storages; lines are those of the file `filename`.

        `host_copies` are arguments in host memory, each with the view of a storage that it is a copy of.
        """
        self._start(storages, filename)
        for copy, content in host_copies:
            if self._memory.number_of(copy) is None:  # on the CPU it is the view itself
                self.allocated(copy)
                self.moved(copy, content)
        self._memory.keep()
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False

    def leave_incomplete(self, why: str) -> None:
        """Record that a step cannot be recorded, such as work that was prepared in an earlier call."""
        self._incomplete = self._incomplete or why

    def tape(self, returned: Sequence[object]) -> bytes:
        """The tape as JSON, made before anything else is called; `returned` is what the entry returned."""
        self.is_on = False
        views: list[TapedView | None] = []
        with self._within_limits():
            views = [self._output(value) for value in returned]
        tape = Tape(
            storages=tuple(self._memory.storages),
            specialisations=tuple(launch for _, launch in self._specialisations.values()),
            steps=tuple(self._steps),
            returned=tuple(views),
            reads=tuple(self._reads),
            incomplete=self._incomplete,
            claimed=tuple(self._claimed) if len(self._claimed) == len(self._specialisations) else (),
            addresses=self._memory.addresses,
        )
        self._start((), "")  # releases the memory of this call
        return msgspec.json.encode(tape)

    def _output(self, value: object) -> TapedView | None:
        """A returned tensor; None for other values, or for a tensor whose values are not its bytes."""
        if (
            not isinstance(value, torch.Tensor)
            or not is_plain_tensor(value)
            or Base.is_conj(value)
            or Base.is_neg(value)
        ):
            return None
        return view_of(value, self._unchanged(value))

    # ------------------------------------------------------------ operators

    def taken(self, tensors: Iterable[torch.Tensor]) -> None:
        """Record that an operator is about to work on these tensors."""
        with self._within_limits():
            for tensor in tensors:
                if has_memory(tensor):
                    self._unchanged(tensor)

    def allocated(self, result: object) -> None:
        """Record that an operator allocated memory without content."""
        with self._within_limits():
            for tensor in tensors_in((result,)):
                if has_memory(tensor) and self._memory.number_of(tensor) is None:
                    self._memory.keep((self._memory.add(tensor),))

    def filled(self, target: torch.Tensor, number: Any) -> None:
        """Record that every element of a tensor was set to this number."""
        if not is_replayed(target):
            self.given("aten::fill_", (target,), ())
            return
        with self._within_limits(), without_modes():
            if elements_of(target):
                self._add(Filled(target=view_of(target, self._used(target)), element=element_of(number, target)))

    def moved(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Record that elements were copied to another tensor, which may be larger in broadcast dimensions."""
        if (operator := computing_copy(target, source)) is not None:
            self.given(operator, (target,), (source,))
            return
        with self._within_limits(), without_modes():
            if not elements_of(target):
                return
            source = Base.expand(source, Base.size(target))
            to, of = view_of(target, self._used(target)), view_of(source, self._used(source))
            if to != of:
                self._add(Moved(target=to, source=of))
                if of.storage in self._memory.derived:
                    self._memory.derived.add(to.storage)

    def looked_up(
        self, target: torch.Tensor, source: torch.Tensor, positions: torch.Tensor, dimension: int, *, each: bool = False
    ) -> None:
        """Record that new memory got the elements of a tensor at positions along a dimension: slices, or `each` one."""
        if not is_replayed(source):
            self.given("aten::index", (target,), (source, positions))
            return
        with self._within_limits(), without_modes():
            of, at = view_of(source, self._used(source)), view_of(positions, self._used(positions))
            self.allocated(target)
            if not elements_of(target):
                return
            to = view_of(target, self._used(target))
            line = line_in(self._filename)
            self._add(LookedUp(target=to, source=of, positions=at, dimension=dimension, each=each, line=line))
            if {of.storage, at.storage} & self._memory.derived:
                self._memory.derived.add(to.storage)

    def given(
        self, operator: str, tensors: Iterable[torch.Tensor], taken: Sequence[torch.Tensor], *, integers: bool = False
    ) -> None:
        """Record content that an operator without replay left in these tensors; `taken` are those that it read."""
        if self.is_in_graph and not self.depends(taken):  # the result of the operator does not exist during a capture
            self.leave_incomplete(f"a CUDA graph that fills memory by {operator or 'other code'}"[:_REASON_CHARACTERS])
        with self._within_limits():
            line, derived = line_in(self._filename), self.depends(taken)
            reads = tuple(dict.fromkeys(self._used(one) for one in taken if has_memory(one)))[:MOST_ARGUMENTS]
            for tensor in tensors:
                if not has_memory(tensor):
                    continue
                number = self._memory.number_of(tensor)
                number = self._memory.add(tensor) if number is None else number
                data = None if derived or number in self._memory.derived else self._data(tensor)
                if derived:
                    self._memory.derived.add(number)
                if self._memory.storages[number].bytes:
                    name = operator[:_NAME_CHARACTERS]
                    self._add(
                        Given(storage=number, reads=reads, operator=name, line=line, data=data, integers=integers)
                    )

    def depends(self, tensors: Iterable[torch.Tensor]) -> bool:
        """Whether the content of one of these may depend on the arguments of the call."""
        return any(
            not is_strided(tensor) or self._memory.number_of(tensor) in self._memory.derived
            for tensor in tensors
            if not is_meta(tensor)
        )

    def read(self, operator: str, tensor: torch.Tensor) -> None:
        """Record that the host read content of a tensor."""
        with self._within_limits():
            if len(self._reads) < MOST_READS and self.depends((tensor,)):
                self._reads.append(HostRead(operator=operator[:_NAME_CHARACTERS], line=line_in(self._filename)))

    # ------------------------------------------------------------ launches

    @contextlib.contextmanager
    def launching(self, launch: PendingLaunch) -> Iterator[None]:
        """Context of a kernel launch; operators that Triton uses for it are not recorded."""
        if not self.is_on:
            yield
            return
        steps, known, claimed = len(self._steps), tuple(self._specialisations.items()), tuple(self._claimed)
        with self._within_limits():
            self._launch(launch)
        was_on, self.is_on = self.is_on, False
        try:
            yield
            self._memory.keep(_written_by(launch, self._steps))
            if len(self._specialisations) > len(known) and (claim := launch.claimed) is not None:
                self._claimed.append(claim)
        except BaseException:  # a failed configuration that an autotuner skips has launched nothing
            del self._steps[steps:]
            self._specialisations, self._claimed = dict(known), list(claimed)
            raise
        finally:
            self.is_on = was_on

    def _launch(self, taken: PendingLaunch) -> None:
        described = taken.described
        key = specialisation(described)
        if key not in self._specialisations:
            if len(self._specialisations) == MOST_LAUNCHES:
                raise OverfullError(f"more than {MOST_LAUNCHES} specialisations of kernels")
            self._specialisations[key] = len(self._specialisations), replace(described, grid=(1, 1, 1))
        arguments = []
        for name, value in taken.values.items():
            if not is_constexpr(taken.function, name):
                parts = ((part, self._value(content)) for part, content in parts_of(name, value))
                arguments += [TapedArgument(name=part, value=taped) for part, taped in parts if taped is not None]
        launched = Launched(
            specialisation=self._specialisations[key][0],
            grid=taken.grid,
            arguments=tuple(arguments),
            line=line_in(self._filename),
        )
        self._add(launched)
        used = {view.storage for view in launched.views}
        if used & self._memory.derived:
            self._memory.derived |= used

    def _value(self, value: Any) -> TapedValue | None:
        """A run-time argument of a launch; None for other values."""
        value = plain_number(value)
        if isinstance(value, bool):
            return TapedNumber(value=value)
        if isinstance(value, int):
            if self._memory.covers(value):
                self.leave_incomplete("a launch gets the address of memory as a number")
            return number_of(value)
        if isinstance(value, float):
            return FloatSpec(hex=value.hex())
        tensor = tensor_of(value)
        if tensor is not None and isinstance(value, TensorDescriptor):
            return TapedDescriptor(
                base=self._view(tensor),
                shape=tuple(map(plain_number, value.shape)),
                strides=tuple(map(plain_number, value.strides)),
                padding_is_nan=getattr(value, "padding", "zero") == "nan",
                rounds_to_tf32=getattr(value, "round_f32_to_tf32", False) is True,
            )
        if is_opaque(value):
            self.leave_incomplete(f"an argument of the class {type(value).__name__}, which computes what it points to")
        return self._view(tensor) if tensor is not None else None

    def _view(self, tensor: torch.Tensor) -> TapedView:
        """A tensor argument of a launch; one without elements has no address in the storage that it views."""
        if elements_of(tensor):
            return view_of(tensor, self._unchanged(tensor))
        return msgspec.structs.replace(view_of(tensor, self._memory.add_empty()), offset_bytes=0)

    # ------------------------------------------------------------ parts

    def _used(self, tensor: torch.Tensor) -> int:
        """The number of a tensor's storage; memory of unknown origin is recorded with its content."""
        number = self._memory.number_of(tensor)
        if (number is None or self.is_in_graph) and self._memory.is_divided_otherwise(tensor):
            where = "a CUDA graph works on" if self.is_in_graph else "a tensor is in"
            self.leave_incomplete(f"{where} memory that has other bounds now")
        if number is None:
            data = self._data(tensor)
            words = self._words(tensor, data)
            number = self._memory.add(tensor)
            if words:
                self._add(Addressed(storage=number, words=words))
            elif self._memory.storages[number].bytes:
                self._add(Given(storage=number, line=line_in(self._filename), data=data))
        return number

    def _unchanged(self, tensor: torch.Tensor) -> int:
        """The number of a tensor's storage; content that no step of the tape has left is of unknown origin."""
        number = self._used(tensor)
        if self._memory.is_changed(number):
            self._add(Given(storage=number, line=line_in(self._filename), data=self._data(tensor)))
        return number

    def _words(self, tensor: torch.Tensor, data: bytes | None) -> tuple[TapedPlace | int, ...] | None:
        """The content of a table with pointers into the tape's memory; None if it has none."""
        if data is None or dtype_of(tensor) not in _WORDS or len(data) % _ADDRESS.size:
            return None
        if len(data) > MOST_ADDRESSES * _ADDRESS.size:
            return None
        return self._memory.with_places([word for (word,) in _ADDRESS.iter_unpack(data)])

    def _data(self, tensor: torch.Tensor) -> bytes | None:
        self._data_bytes += Base.untyped_storage(tensor).nbytes()
        return self._memory.bytes_of(tensor) if self._data_bytes <= _MOST_DATA_BYTES else None

    def _add(self, step: Step) -> None:
        covered = self._unread.covered_by(step)
        if covered is not None:
            del self._steps[next(at for at in reversed(range(len(self._steps))) if self._steps[at] is covered)]
        if len(self._steps) == MOST_STEPS:
            raise OverfullError(f"more than {MOST_STEPS} steps")
        self._steps.append(step)
        match step:
            case Filled() | Moved() | LookedUp():
                self._memory.keep((step.target.storage,))
            case Given() | Addressed():
                self._memory.keep((step.storage,))

    @contextlib.contextmanager
    def _within_limits(self) -> Iterator[None]:
        """Context in which steps that do not fit, or cannot be described, only make the tape incomplete."""
        was_on, self.is_on = self.is_on, False
        try:
            with without_functions():
                yield
        except OverfullError as error:
            self._incomplete, was_on = f"a call of {error}", False
        except Exception as error:  # a candidate's tensors and arguments may raise anything
            self._incomplete = (
                self._incomplete or f"{type(error).__name__} while it was recorded: {error}"[:_REASON_CHARACTERS]
            )
        finally:
            self.is_on = was_on


def _written_by(launch: PendingLaunch, steps: Sequence[Step]) -> Iterable[int] | None:
    """The storages that a launch, the last of these steps, may have written; None for all of the tape."""
    claimed, step = launch.claimed, steps[-1] if steps else None
    if claimed is None or makes_pointers(claimed.ttir) or not isinstance(step, Launched):
        return None
    return {view.storage for view in step.views}
