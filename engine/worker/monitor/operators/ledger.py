"""The operators of torch that a candidate calls in verified calls, how often and on how many elements.

Recorded are the operators of the thread that calls the entry and of those in which `beside` is active, and operations
that take content out of torch; a candidate that knows of the ledger can avoid it.  So it can show what was done, never
that something was not.  Timed calls are not recorded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.overrides import _get_current_function_mode_stack as function_modes
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes as disabled_modes
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack as dispatch_modes

from engine.clock.safe_torch import Base
from engine.protocol.monitoring import (
    INTO,
    LOOKING_UP,
    MOST_OPERATORS,
    RESOLVE_NEG,
    OperatorKind,
    OperatorSeen,
)
from engine.worker.frames import line_in
from engine.worker.monitor.operators.departures import Departures, has_own
from engine.worker.monitor.operators.operator_kinds import KINDS
from engine.worker.monitor.operators.origins import MemoryOrigins, Origin
from engine.worker.operands import are_booleans, are_one, elements_of, is_meta, tensors_in
from engine.worker.taping.operators import note as note_operator
from engine.worker.taping.operators import note_view
from engine.worker.taping.recorder import TapeRecorder
from engine.worker.taping.steps import StepReceiver

_MOST_NAMES = 256
_NAME_CHARACTERS = 200
_OF_BITS = frozenset(getattr(torch.ops.aten, f"bitwise_{name}") for name in ("and", "or", "xor", "not"))
"""On booleans these count as questions, as the logical operators do; `&` and `|` combine comparisons."""
_REPORTED_BY_CASE = frozenset(
    {
        OperatorKind.LIGHT,
        OperatorKind.COMPUTE,
        OperatorKind.QUESTION,
        OperatorKind.COPY,
        OperatorKind.RANDOM,
    }
)
_JOINING = frozenset(getattr(torch.ops.aten, name) for name in ("cat", "stack", "_foreach_copy_"))
_OF_NUMBERS = "fill_ lift_fresh full full_like new_full scalar_tensor linspace arange"
_REPORTED_BY_CASE_TOO = frozenset(getattr(torch.ops.aten, name) for name in _OF_NUMBERS.split())
"""Operators that bring numbers into torch from outside."""
_COPYING = torch.ops.aten.copy_
_LOOKING_UP = frozenset(getattr(torch.ops.aten, name) for name in LOOKING_UP)
_ASSIGNING = frozenset((torch.ops.aten.index_put, torch.ops.aten.index_put_))
_SCATTERING = frozenset((torch.ops.aten.scatter, torch.ops.aten.scatter_))
_COMPUTING = frozenset({OperatorKind.LIGHT, OperatorKind.COMPUTE})
_MAKES_NO_CONTENT = frozenset({OperatorKind.VIEW, OperatorKind.METADATA})
_NUMBER_OF_ONE = torch.ops.aten._local_scalar_dense


@dataclass(kw_only=True, slots=True)
class _Entry:
    name: str
    line: int | None = None  # of the first use
    uses: int = 0
    largest_in: int = 0
    largest_out: int = 0
    total_in: int = 0
    total_out: int = 0


class _Key(NamedTuple):
    """What the uses counted in one entry have in common."""

    packet: Any  # an OpOverloadPacket, which has no public name, or the name of a way out of torch
    kind: OperatorKind  # bit operations are of two kinds
    case: str
    reads_inputs: bool
    integers: bool
    places: frozenset[int] | None = None  # of arguments


class Ledger(TorchDispatchMode):
    """While active, records the operators that this thread calls; lines are those of the file `filename`."""

    def __init__(self, recorder: TapeRecorder | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self._tape = recorder or TapeRecorder()
        self._entries: dict[_Key, _Entry] = {}
        self._packets: set[Any] = set()
        self._case = ""
        self.filename = ""
        self.origins = MemoryOrigins()
        self._takes_negatives = False
        self._is_on = self._is_noting = self._is_only_capturing = False
        self._followed: set[str] = set()
        self.overfull = False

    @contextlib.contextmanager
    def of_call(self, case: str, arguments: Sequence[object], *, notes: bool = True) -> Iterator[None]:
        """The ledger, active for one call of the entry with these arguments.

        It is also active in a call without `notes`: the candidate must not be able to detect which calls are recorded.
        """
        self._case = case
        self.origins.begin(arguments)
        self._takes_negatives = any(map(Base.is_neg, tensors_in(arguments)))
        self._is_on, self._is_noting, self._is_only_capturing = True, notes, False
        self._tape.sees_operators = True
        try:
            with self, Departures(self):
                yield
        finally:
            self._is_on = self._is_noting = self._tape.sees_operators = False

    @contextlib.contextmanager
    def of_capture(self) -> Iterator[None]:
        """The ledger, active while a CUDA graph is captured; it records only within a call of the entry."""
        if self._is_on:
            yield
            return
        self._is_on = self._is_only_capturing = self._tape.sees_operators = True
        try:
            with self, Departures(self):
                yield
        finally:
            if self._is_only_capturing:  # otherwise a call has begun, and the capture never ended
                self._is_on = self._is_only_capturing = self._tape.sees_operators = False

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Record operators of this thread too, while another thread is in a call of the entry."""
        with _ThreadLedger(self), Departures(self):
            yield

    @property
    def recorder(self) -> StepReceiver:
        """Current listener of operators: the tape of the call, or of a graph capture."""
        return self._tape.capture or self._tape

    @property
    def is_on(self) -> bool:
        """Whether the entry is being called and operators are recorded."""
        return self._is_on

    @contextlib.contextmanager
    def asked(self) -> Iterator[None]:
        """Context in which nothing of this thread is recorded: torch answers a question."""
        with disabled_modes():
            yield

    def follow(self, operator: str) -> None:
        """Run the Python code of this operator ("namespace::name") in `within`, to record its own operators."""
        self._followed.add(operator)

    def follows(self, packet: Any) -> bool:  # Any: an OpOverloadPacket, which has no public name
        """Whether the operator itself need not be recorded."""
        return bool(self._followed) and packet._qualified_op_name in self._followed

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        """Context in which operators of this thread are recorded again, after torch has left the ledger to run one."""
        with contextlib.ExitStack() as stack:
            if self._is_on and not any(isinstance(mode, Ledger | _ThreadLedger) for mode in dispatch_modes()):
                stack.enter_context(_ThreadLedger(self))
            if self._is_on and not any(isinstance(mode, Departures) for mode in function_modes()):
                stack.enter_context(Departures(self))
            yield

    def carried_out(self, how: str, tensor: torch.Tensor, *, kind: OperatorKind = OperatorKind.COMPUTE) -> None:
        """Record that the content of a tensor was taken to where no operator of torch works on it."""
        if self.recorder.is_on:
            self.recorder.read(how, tensor)
        self.note(how, kind, (tensor,), (tensor,), self.origins.of(how, (tensor,)))

    def seen(self) -> tuple[OperatorSeen, ...]:
        """Operators that were called up to now."""
        found: dict[_Key, OperatorSeen] = {}
        for key, entry in self._entries.items():
            positions = self.origins.are_positions(key.places)
            one = OperatorSeen(
                name=entry.name,
                kind=key.kind,
                case=key.case,
                reads_inputs=key.reads_inputs,
                integers=key.integers,
                positions=positions,
                line=entry.line,
                uses=entry.uses,
                largest_in=entry.largest_in,
                largest_out=entry.largest_out,
                total_in=entry.total_in,
                total_out=entry.total_out,
            )
            alike = key._replace(places=frozenset() if positions else None)
            found[alike] = one if alike not in found else found[alike].with_uses_of(one)
        return tuple(found.values())

    def entry(
        self,
        packet: Any,  # an OpOverloadPacket, which has no public name
        kind: OperatorKind,
        *,
        reads: bool = False,
        integers: bool = False,
        places: frozenset[int] | None = None,
    ) -> _Entry | None:
        """The entry of an operator that `reads` the entry's arguments or not; None when the ledger is full."""
        if not self._is_noting:
            return None
        by_case = kind in _REPORTED_BY_CASE or packet in _REPORTED_BY_CASE_TOO or isinstance(packet, str)
        case = self._case if by_case else ""
        key = _Key(
            packet, kind, case, reads_inputs=by_case and reads, integers=by_case and integers,
            places=places if by_case else None,
        )  # fmt: skip
        entry = self._entries.get(key)
        if entry is None:
            self._packets.add(packet)
            if len(self._entries) >= MOST_OPERATORS or len(self._packets) > _MOST_NAMES:
                self.overfull = True
                return None
            name = packet if isinstance(packet, str) else str(packet._qualified_op_name)
            line = line_in(self.filename) if by_case else None
            entry = self._entries[key] = _Entry(name=name[:_NAME_CHARACTERS], line=line)
        return entry

    def note(
        self,
        packet: Any,
        kind: OperatorKind,
        taken: Sequence[torch.Tensor],
        made: Sequence[torch.Tensor],
        origin: Origin,
        *,
        integers: bool = False,
    ) -> None:
        """Record one use of an operator that made content; `integers` as in `MemoryOrigins.makes_integers`."""
        self.origins.follow(origin, made)
        if packet is _COPYING and len(taken) == 2 and are_one(*taken):
            return  # Triton's interpreter copies the tensors of a launch back onto themselves
        entry = self.entry(packet, kind, reads=origin.reads, integers=integers, places=origin.places)
        if entry is not None:
            elements_in, elements_out = sum(map(elements_of, taken)), sum(map(elements_of, made))
            if packet in _LOOKING_UP and taken:  # a look-up reads only as many table elements as it returns
                elements_in -= max(0, elements_of(taken[0]) - elements_out)
            pieces = len(taken) if len(made) == 1 else len(made)
            entry.uses += pieces if packet in _JOINING else 1
            entry.total_in += elements_in
            entry.total_out += elements_out
            entry.largest_in = max(entry.largest_in, elements_in)
            entry.largest_out = max(entry.largest_out, elements_out)

    def negates(self, taken: Sequence[torch.Tensor]) -> bool:
        """Whether a copy of these computes negatives: of a view with the lazy bit that no argument had."""
        return not self._takes_negatives and any(map(Base.is_neg, taken))


def _dispatch(
    mode: Ledger,
    operator: Any,  # an OpOverload; torch has no public name for its type
    types: Sequence[type],
    args: Sequence[Any] = (),  # Any: the operator's own
    kwargs: dict[str, Any] | None = None,
) -> Any:
    packet = operator.overloadpacket
    if packet is _NUMBER_OF_ONE:
        mode.carried_out("Tensor.item", args[0], kind=OperatorKind.METADATA)
        return operator(*args, **(kwargs or {}))
    if mode.follows(packet):
        return operator(*args, **(kwargs or {}))
    if packet not in KINDS:  # in inference mode torch does not decompose composite operators itself
        with _ThreadLedger(mode), torch._C.DisableTorchFunction():
            result = operator.decompose(*args, **(kwargs or {}))
        if result is not NotImplemented:
            return result
    kind = KINDS.get(packet, OperatorKind.COMPUTE)
    if kind in _MAKES_NO_CONTENT:  # the most frequent operators are only counted
        if (entry := mode.entry(packet, kind)) is not None:
            entry.uses += 1
        result = _carry_out(mode, operator, types, args, kwargs)
        if mode.recorder.is_on and kind is OperatorKind.VIEW:
            note_view(mode.recorder, args, result)
        return result
    taken = () if kind is OperatorKind.ALLOCATION else tuple(tensors_in((args, kwargs)))
    origin = mode.origins.of(packet, taken)  # before the call, which may write to its arguments
    if mode.recorder.is_on:
        mode.recorder.taken(taken)
    result = _carry_out(mode, operator, types, args, kwargs)
    made = (result,) if type(result) is torch.Tensor else tuple(tensors_in((result,)))
    is_recorded = mode.recorder.is_on
    is_weighed = is_recorded or kind in _COMPUTING or packet in _REPORTED_BY_CASE_TOO
    integers = is_weighed and mode.origins.makes_integers(packet, origin, taken, made)
    integers = integers and not _accumulates(operator, args, kwargs or {})
    if is_recorded:
        note_operator(mode.recorder, packet, args, kwargs or {}, result, integers=integers)
    if not made and operator._schema.is_mutable:
        made = tuple(tensors_in(_written(operator, args, kwargs or {})))
    if packet in _OF_BITS and are_booleans((*taken, *made)):
        kind = OperatorKind.QUESTION
    if kind is OperatorKind.COPY and mode.negates(taken):
        packet, kind = RESOLVE_NEG, OperatorKind.LIGHT
    if not made or not all(type(one) is torch.Tensor and is_meta(one) for one in made):
        into = kind is OperatorKind.COPY and packet not in _JOINING and operator._overloadname.endswith("out")
        name = f"{packet._qualified_op_name}{INTO}" if into else packet
        mode.note(name, kind, taken, made, origin, integers=integers)
    return result  # tensors on the meta device have no content


def _carry_out(
    mode: Ledger, operator: Any, types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any] | None
) -> Any:  # Any: as above
    """Call the operator; operators inside a tensor subclass's own implementation are recorded too."""
    tensors = tensors_in((args, kwargs)) if types else ()
    owner = next((type(one) for one in tensors if has_own(type(one), "__torch_dispatch__")), None)
    if owner is not None:
        with mode.within():
            result = owner.__torch_dispatch__(operator, types, tuple(args), kwargs or {})
        if result is not NotImplemented:
            return result
    return operator(*args, **(kwargs or {}))


def _accumulates(operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an operator that writes to places adds to what they have, or multiplies it."""
    if operator.overloadpacket in _ASSIGNING:
        return bool(args[3] if len(args) > 3 else kwargs.get("accumulate", False))
    return operator.overloadpacket in _SCATTERING and "reduce" in operator._overloadname


def _written(operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[object]:
    """The arguments that an operator writes to; in-place operators on tensor lists return none of them."""
    for place, argument in enumerate(operator._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield args[place] if place < len(args) else kwargs.get(argument.name)


# Not a method in the class body: torch wraps those, and the wrapper's first call imports torch's whole compiler.
Ledger.__torch_dispatch__ = _dispatch  # type: ignore[method-assign, assignment]  # see above


class _ThreadLedger(TorchDispatchMode):
    """A ledger in another thread, which has modes of its own."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.ledger = ledger


def _dispatch_in_thread(
    mode: _ThreadLedger,
    operator: Any,
    types: Sequence[type],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:  # Any: as above
    if mode.ledger.is_on:
        return _dispatch(mode.ledger, operator, types, args, kwargs)
    return operator(*args, **(kwargs or {}))


_ThreadLedger.__torch_dispatch__ = _dispatch_in_thread  # type: ignore[method-assign, assignment]  # see above
