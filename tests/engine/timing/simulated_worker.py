"""A worker that answers the messages of timing on a simulated device."""

from __future__ import annotations

from engine import protocol
from engine.errors import ChildDiedError, EngineError
from engine.model import (
    CacheState,
)
from tests.engine.timing.simulated_device import GRAPH_GAP_US, RETURNED, ROUND_TRIP_S, Machine, Script, single


class Worker:
    """A candidate in its worker; `ask` and `clear` are what Bench knows of it."""

    def __init__(self, device: Machine, script: Script, *, name: str = "worker") -> None:
        self.device, self.script, self.name = device, script, name
        self.calls = 0
        self.chunks = 0
        self.replays = 0
        self.stretched: set[protocol.CallMode] = set()
        self.mode = protocol.CallMode.SINGLE
        self.captured: tuple[int, ...] = ()
        self.last: tuple[int, ...] = ()
        self.alive = True
        self.occupied = False
        self.cache: CacheState | None = None  # as the last fetch left it, None once calls were made
        self.deadlines_s: list[float] = []
        self.tuning_s: list[float] = []  # the budget of autotuners for each opened case
        self.error: EngineError | None = None

    @property
    def unrecorded(self) -> str:
        return self.script.unrecorded

    async def clear(self) -> None:
        self.alive = False
        if self.occupied:
            self.occupied = False
            self.device.occupied -= 1

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        self.device.clock.work(ROUND_TRIP_S)
        self.deadlines_s.append(deadline_s)
        if not self.alive:
            raise ChildDiedError("the worker is not running")
        match command:
            case protocol.OpenSlots():
                assert self.device.arranged
                self.occupied = True
                self.device.occupied += 1
                self.tuning_s.append(command.tuning_s)
            case protocol.Fetch():
                assert self.occupied
                self.cache = command.cache
            case protocol.TimeCalls():
                return self._time(command)
            case protocol.Collect():
                self._write(tuple(dict.fromkeys(self.last)))  # a graph may go over its slots more than once
                if self.script.shared_outputs:  # every call wrote over what the one before it left
                    self.device.wrong |= set(self.last) - {self.last[-1]}
                return protocol.Timed(
                    id=command.id, returned=(RETURNED,) * len(self.last), shared_outputs=self.script.shared_outputs
                )
            case protocol.CloseSlots():
                if self.occupied:
                    self.occupied = False
                    self.device.occupied -= 1
            case _:
                raise AssertionError(f"a worker is never asked for {type(command).__name__}")
        return protocol.Done(id=command.id)

    def _time(self, command: protocol.TimeCalls) -> protocol.AnyReply:
        device, script = self.device, self.script
        if command.slots:
            device.log.append((self.name, command.mode.value, str(len(command.slots))))
            in_one_go = command.mode in (protocol.CallMode.BURST, protocol.CallMode.REPLAY)
            assert not in_one_go or self.cache is command.cache, "the cache is as the calls before left it"
            self.cache = None
        if command.mode is not protocol.CallMode.CAPTURE:
            self.calls += len(command.slots)
        if script.dies_at_call is not None and self.calls >= script.dies_at_call:
            self.alive = False
            raise self.error or ChildDiedError("the worker ended without a reply (killed by signal 11)")
        if script.fails_with is not None:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message=script.fails_with)
        if self.calls == len(command.slots):
            device.clock.work(script.first_call_s)
        self.last, self.mode = command.slots, command.mode
        match command.mode:
            case protocol.CallMode.SINGLE:
                return self._single(command)
            case protocol.CallMode.BURST:
                busy_us = sum(max(script.launch_us, device.busy_us(script)) for _ in command.slots)
                busy_us += self._first_us(command)
                device.clock.work(busy_us * 1e-6)
                return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * 1e3))
            case protocol.CallMode.CAPTURE:
                if not script.capturable:
                    message = "cannot be captured: it waits for the device"
                    return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
                self.captured = command.slots
                self.stretched.discard(protocol.CallMode.REPLAY)
                return protocol.Timed(id=command.id, kernels=self._kernels(len(command.slots)) if script.nodes else ())
            case protocol.CallMode.REPLAY:
                assert command.slots == self.captured
                self.replays += 1
                met = device.filled[command.slots[0]] == "seen"
                factor = script.old_content_factor if met else 1.0
                busy_us = sum(device.busy_us(script) * factor + GRAPH_GAP_US for _ in command.slots)
                busy_us += self._first_us(command)
                device.clock.work(20e-6 + busy_us * 1e-6 + (0.0 if self.replays % 3 else script.held_up_s))
                return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * script.claim_factor * 1e3))

    def _first_us(self, command: protocol.TimeCalls) -> float:
        if not command.slots or command.mode in self.stretched:
            return 0.0
        self.stretched.add(command.mode)
        return self.script.first_stretch_us

    def _single(self, command: protocol.TimeCalls) -> protocol.Timed:
        self.chunks += 1
        calls = single(self.device, self.script, command.slots, self.chunks)
        if self.script.reports_fewer:
            calls = calls[1:]
        self._write(command.slots)
        return protocol.Timed(
            id=command.id,
            calls=calls,
            returned=(RETURNED,) * len(command.slots),
            kernels=self._kernels(len(calls)),
            late=self.script.late,
            method=self.script.method if self.script.is_precise(self.chunks) else "",
            reason=self.script.reason,
            notes=self.script.notes,
        )

    def _kernels(self, calls: int) -> tuple[protocol.KernelTime, ...]:
        return tuple(
            protocol.KernelTime(name=name, device_ns=calls * each_ns, count=calls)
            for name, each_ns in self.script.kernels_ns.items()
        )

    def _write(self, slots: tuple[int, ...]) -> None:
        """Leave outputs: each slot must hold content that no call of this worker has met."""
        for offset, slot in enumerate(slots):
            assert self.device.filled.get(slot) == "unseen", f"slot {slot} holds {self.device.filled.get(slot)}"
            self.device.filled[slot] = "seen"
            number = self.calls - len(slots) + offset + 1
            if self.script.wrong_at_call is not None and number >= self.script.wrong_at_call:
                self.device.wrong.add(slot)
            wrong_from = self.script.graph_wrong_from
            if self.mode is protocol.CallMode.REPLAY and wrong_from is not None and self.replays >= wrong_from:
                self.device.wrong.add(slot)
