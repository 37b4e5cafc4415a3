"""A side of a benchmark in its process: an entry is called on slots that the judge has filled.

Everything here runs beside untrusted code, so none of its numbers counts by itself: the judge verifies every output,
and the parent compares every time with a clock of its own.

Calls are made on copies in memory of this process, and their outputs are copied back.  Memory that another process has
shared is mapped in smaller pages: on an H100 a softmax that reads 12 MB there takes 10 us instead of 8.5, and a ratio
to a baseline in its own memory would be wrong by as much.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from engine import protocol
from engine.clock.binding import BindingEntry, bound
from engine.clock.calls import Calls
from engine.clock.instruments import Instruments, instruments_of
from engine.clock.returned import SPLIT_ELEMENTS, copy_out, is_plain_tensor, values_of
from engine.clock.safe_torch import Base, without_modes
from engine.devices.hardware.device_memory import alone
from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError
from engine.model import CacheState
from engine.protocol import tensors

Entry: TypeAlias = Callable[..., Any]  # Any: an untrusted function
_MESSAGE_CHARACTERS = 1900
_MOST_OF_A_HOST_COPY = 2  # activities: strided content is gathered on the device first


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """One slot as the entry gets it, and the place for its outputs: views of `own`, but for arguments in host memory.

    `shared` is the same slot in the judge's memory.  `on_host` are the arguments in host memory, each with the view
    that it is a copy of.
    """

    own: torch.Tensor
    shared: torch.Tensor
    storages: tuple[torch.Tensor, ...]
    arguments: tuple[Any, ...]  # Any: whatever a problem passes
    outputs: torch.Tensor
    on_host: tuple[tuple[torch.Tensor, torch.Tensor], ...] = ()

    def fetch(self) -> int:
        """Copy the judge's content; returns the most device activities of that."""
        copied = _copy(self.shared, self.own)
        with without_modes():
            for argument, content in self.on_host:
                Base.copy_(argument, content)
        return copied + _MOST_OF_A_HOST_COPY * len(self.on_host)

    def give(self) -> int:
        """Copy the slot, guard zones included, to the judge's memory; returns the most device activities of that."""
        return _copy(self.own, self.shared)


class Stopwatch:
    """Calls an entry on the slots of one case; `entry` gives it, or raises when there is none.

    `open_block(handle, bytes)` gives the judge's memory with this handle.
    """

    def __init__(
        self,
        device: torch.device,
        entry: Callable[[], Entry],
        *,
        open_block: Callable[[str, int], torch.Tensor],
        instruments: Instruments | None = None,
    ) -> None:
        self._device = device
        self._entry = entry
        self._instruments = instruments
        if instruments is None:
            with contextlib.suppress(UnsupportedError):  # the error is reported when timing begins
                # Created before the candidate is loaded, which could replace torch's functions.
                self._instruments = instruments_of(device)
        self._open_block = open_block
        self._slots: tuple[_Slot, ...] = ()
        self._calls: Calls | None = None
        self._last: tuple[int, ...] = ()
        self._captured: tuple[int, ...] = ()
        self._prepared: dict[int, Callable[[], object]] = {}

    def slot(self, number: int) -> tuple[tuple[torch.Tensor, ...], tuple[Any, ...]]:  # Any: whatever a problem passes
        """The storages of an open slot, and the arguments that view them.

        Raises:
            UnsupportedError: there is no such slot.
        """
        if absent := self._absent((number,)):
            raise UnsupportedError(absent)
        return self._slots[number].storages, self._slots[number].arguments

    @property
    def instruments(self) -> Instruments | None:
        """Instruments made before a candidate was loaded; None if nothing can be timed."""
        return self._instruments

    def carry_out(
        self,
        command: protocol.OpenSlots | protocol.Fetch | protocol.TimeCalls | protocol.Collect | protocol.CloseSlots,
    ) -> protocol.AnyReply:
        """Carry out one command; exceptions of the entry are raised."""
        try:
            match command:
                case protocol.OpenSlots():
                    return self._open_slots(command)
                case protocol.Fetch():
                    return self._fetch(command)
                case protocol.TimeCalls():
                    return self._time(command)
                case protocol.Collect():
                    return self._collect(command)
                case protocol.CloseSlots():
                    self._close_slots()
                    return protocol.Done(id=command.id)
        except UnsupportedError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))

    def _open_slots(self, command: protocol.OpenSlots) -> protocol.AnyReply:
        self._close_slots()
        if self._instruments is None:
            self._instruments = instruments_of(self._device)
        layout = command.layout
        content = self._open_block(layout.handle, layout.bytes)
        own_bytes = layout.slots * layout.stride
        try:
            own = torch.empty_like(content[:own_bytes])
        except torch.OutOfMemoryError as error:  # our own allocation, so the failure is not the candidate's
            raise UnsupportedError(
                f"there is no device memory for {own_bytes} bytes of input copies: {error}"
            ) from error
        self._slots = tuple(
            _slot(
                command.arguments,
                layout,
                own=own[begin : begin + layout.stride],
                shared=content[layout.first + begin : layout.first + begin + layout.stride],
            )
            for begin in range(0, layout.slots * layout.stride, layout.stride)
        )
        self._calls = Calls(self._instruments)
        return protocol.Done(id=command.id)

    def _fetch(self, command: protocol.Fetch) -> protocol.AnyReply:
        if self._calls is None or self._instruments is None:
            return _refused(command, "fetching requires occupied slots")
        if absent := self._absent(command.slots):
            return _refused(command, absent)
        self._prepare(self._calls, command.slots)
        if command.cache is CacheState.COLD:
            self._instruments.evict()
        self._instruments.synchronise()
        return protocol.Done(id=command.id)

    def _absent(self, numbers: Sequence[int]) -> str:
        """Why some of these slots do not exist; "" if all do."""
        if any(number >= len(self._slots) for number in numbers):
            return f"there are {len(self._slots)} slots, and {tuple(numbers)} were requested"
        return ""

    def _time(self, command: protocol.TimeCalls) -> protocol.AnyReply:
        if self._calls is None or self._instruments is None:
            return _refused(command, "timing requires occupied slots")
        if absent := self._absent(command.slots):
            return _refused(command, absent)
        if command.slots:  # an empty run only measures the round trip and keeps the results
            self._last = ()
        note = self._instruments.forbid_persistence()
        notes = (note,) if note else ()
        match command.mode:
            case protocol.CallMode.SINGLE:
                return self._single(command, self._calls, self._instruments, notes)
            case protocol.CallMode.BURST:
                elapsed_ns = self._calls.burst(self._calls_on(command.slots))
                self._last = command.slots or self._last
                return protocol.Timed(id=command.id, elapsed_ns=elapsed_ns, notes=notes)
            case protocol.CallMode.CAPTURE:
                return self._capture(command, self._calls, self._instruments)
            case protocol.CallMode.REPLAY:
                if not command.slots or command.slots != self._captured:
                    return _refused(command, f"the graph holds calls on {self._captured}, not on {command.slots}")
                elapsed_ns = self._calls.replay()
                self._last = command.slots
                return protocol.Timed(id=command.id, elapsed_ns=elapsed_ns, notes=notes)

    def _single(
        self, command: protocol.TimeCalls, calls: Calls, instruments: Instruments, notes: tuple[str, ...]
    ) -> protocol.Timed:
        slots = [self._slots[number] for number in command.slots]
        if isinstance(self._entry(), BindingEntry):
            self._prepare(calls, command.slots)
            instruments.synchronise()
        returned: list[tuple[protocol.ReturnedSpec, ...]] = []

        # All slots before the first call and after the last, so that writes into another call's slot are detected.
        def before(number: int) -> int:
            fetched = sum(slot.fetch() for slot in slots) if number == 0 else 0
            if command.cache is CacheState.WARM:
                return fetched + instruments.touch(slots[number].storages)
            return fetched + instruments.evict()

        def after(number: int, value: object) -> int:
            values = values_of(value)
            specs, copied = copy_out(values, slots[number].outputs)
            returned.append(specs)
            return copied + (sum(slot.give() for slot in slots) if number == len(slots) - 1 else 0)

        record = calls.single(self._calls_on(command.slots), before=before, after=after)
        return protocol.Timed(
            id=command.id,
            calls=record.calls,
            returned=tuple(returned),
            kernels=record.kernels,
            late=record.late,
            method=record.method,
            reason=record.reason,
            notes=(*notes, *record.notes),
        )

    def _capture(self, command: protocol.TimeCalls, calls: Calls, instruments: Instruments) -> protocol.AnyReply:
        self._captured = ()
        message = ""
        if isinstance(self._entry(), BindingEntry):
            message = "cannot be captured: each call is prepared from its content, which a graph would keep"
        elif any(self._slots[number].on_host for number in command.slots):
            message = "cannot be captured: a graph keeps the numbers that were read from an argument in host memory"
        if message:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        try:
            kernels = calls.capture(self._calls_on(command.slots))
        except Exception as error:  # the candidate's code runs during the capture and may raise anything
            instruments.synchronise()
            message = f"cannot be captured: {_error_text(error)}"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        self._captured = command.slots
        return protocol.Timed(id=command.id, kernels=kernels)

    def _collect(self, command: protocol.Collect) -> protocol.AnyReply:
        if self._calls is None or self._instruments is None or not self._last:
            return _refused(command, "nothing to collect: no burst or replay has run")
        outputs = [values_of(value) for value in self._calls.kept]
        # Before anything is copied: a copy must not be mistaken for a returned tensor.
        shared = _share_memory(outputs)
        returned = tuple(
            copy_out(values, self._slots[number].outputs)[0] for number, values in zip(self._last, outputs, strict=True)
        )
        for number in set(self._last):
            self._slots[number].give()
        self._instruments.synchronise()
        return protocol.Timed(id=command.id, returned=returned, shared_outputs=shared)

    def _close_slots(self) -> None:
        if self._calls is not None:
            self._calls.forget()
        self._calls, self._slots, self._last, self._captured, self._prepared = None, (), (), (), {}
        runtime_of(
            self._device
        ).release_cached_memory()  # the driver allocates the judge's next block and cannot use torch's cached memory

    def _prepare(self, calls: Calls, numbers: Sequence[int]) -> None:
        """Copy the content of these slots, and prepare the calls of a `BindingEntry` on it, before any time counts."""
        calls.rest()  # otherwise the copies would be recorded as late work of a call
        for number in dict.fromkeys(numbers):
            self._slots[number].fetch()
        entry = self._entry()
        if isinstance(entry, BindingEntry):
            self._prepared |= {number: entry.bind(self._slots[number].arguments) for number in numbers}

    def _calls_on(self, numbers: Sequence[int]) -> list[Callable[[], object]]:
        """The calls on these slots; those of a `BindingEntry` are those of the last fetch."""
        entry = self._entry()

        def on(number: int) -> Callable[[], object]:
            return self._prepared.get(number) or bound(entry, self._slots[number].arguments)

        return [on(number) for number in numbers]


def _slot(
    arguments: tuple[protocol.ValueSpec, ...], layout: protocol.SlotLayout, *, own: torch.Tensor, shared: torch.Tensor
) -> _Slot:
    storages = tuple(alone(tensors.part(own, storage)) for storage in layout.storages)
    values = tuple(tensors.argument_of(spec, storages) for spec in arguments)
    return _Slot(
        own=own,
        shared=shared,
        storages=storages,
        arguments=values,
        outputs=tensors.part(own, layout.outputs),
        on_host=tensors.host_copies(arguments, values, storages),
    )


def _copy(there: torch.Tensor, here: torch.Tensor) -> int:
    """Copy all of `there`; returns the most device activities of that."""
    with without_modes():
        Base.copy_(here, there)
        return 1 + Base.numel(here) // SPLIT_ELEMENTS


def _share_memory(outputs: Sequence[tuple[object, ...]]) -> bool:
    """Whether two calls returned tensors that overlap in memory."""
    ranges = sorted(
        (*_range(value), call)
        for call, values in enumerate(outputs)
        for value in values
        if isinstance(value, torch.Tensor) and is_plain_tensor(value) and value.numel()
    )
    furthest, furthest_call = 0, 0
    for begin, end, call in ranges:
        if begin < furthest and call != furthest_call:
            return True
        if end > furthest:
            furthest, furthest_call = end, call
    return False


def _range(value: torch.Tensor) -> tuple[int, int]:
    """The addresses from the first element to behind the last."""
    spanned = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
    return value.data_ptr(), value.data_ptr() + spanned * value.element_size()


def _error_text(error: Exception) -> str:
    """The error as text; the candidate's own `__str__` may raise or return no string."""
    try:
        text = str(error)
    except Exception:
        text = ""
    line = f"{type(error).__name__}: {text}"[:_MESSAGE_CHARACTERS]
    return line.encode("utf-8", "backslashreplace").decode()


def _refused(command: protocol.Fetch | protocol.TimeCalls | protocol.Collect, message: str) -> protocol.Failed:
    return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)
