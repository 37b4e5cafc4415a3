"""A judge that fills slots, times baselines and checks outputs on a simulated device."""

from __future__ import annotations

import asyncio
import sys

from engine import protocol
from engine.errors import EngineError
from engine.model import (
    Outcome,
    OutputReport,
)
from tests.engine.timing.simulated_device import ROUND_TRIP_S, Machine, Script, single


class Judge:
    """The trusted side; `fails` maps types of commands to what they are answered with."""

    def __init__(self, device: Machine, baselines: dict[str, Script]) -> None:
        self.device, self.baselines = device, baselines
        self.fails: dict[type, protocol.Failed | EngineError] = {}
        self.fails_from: dict[type, int] = {}
        self.fails_to: dict[type, int] = {}  # the last time that it fails, inclusive
        self.asked: dict[type, int] = {}
        self.refreshed: list[tuple[int, ...]] = []
        self.report_trouble: str | None = None
        self.cancel_at: tuple[int, asyncio.Task[None]] | None = None

    async def __call__(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        device, kind = self.device, type(command)
        device.clock.work(ROUND_TRIP_S)
        self.asked[kind] = self.asked.get(kind, 0) + 1
        if self.cancel_at is not None and sum(self.asked.values()) == self.cancel_at[0]:
            self.cancel_at[1].cancel()
            await asyncio.sleep(0)
        failing = range(self.fails_from.get(kind, 0), self.fails_to.get(kind, sys.maxsize) + 1)
        if kind in self.fails and self.asked[kind] in failing:
            failure = self.fails[kind]
            if isinstance(failure, EngineError):
                raise failure
            return protocol.Failed(id=command.id, kind=failure.kind, message=failure.message)
        match command:
            case protocol.Arrange():
                device.arranged = True
                device.filled.clear()
                layout = protocol.SlotLayout(
                    handle="ab",
                    bytes=device.slots * device.stride,
                    first=0,
                    stride=device.stride,
                    slots=min(device.slots, command.most_slots),
                    storages=(),
                    outputs=protocol.StorageSpec(offset=0, bytes=16),
                )
                return protocol.Arranged(
                    id=command.id,
                    arguments=(),
                    layouts=(layout,) * command.blocks,
                    slot_bytes=device.stride,
                    l2_bytes=device.l2_bytes,
                )
            case protocol.Refresh():
                assert len(set(command.slots)) == len(command.slots)
                device.clock.work(device.refresh_s * len(command.slots))
                device.filled = dict.fromkeys(device.filled, "old") | dict.fromkeys(command.slots, "unseen")
                device.wrong -= set(command.slots)
                self.refreshed.append(command.slots)
            case protocol.Check():
                device.clock.work(device.refresh_s * len(command.slots))
                return self._check(command)
            case protocol.PrepareBaseline():
                if command.name not in self.baselines:
                    message = f"{command.name} is not installed here"
                    return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
            case protocol.TimeBaseline():
                return self._time(command)
            case protocol.FreeSlots():
                device.arranged = False
            case _:
                raise AssertionError(f"the judge is not expected to be asked for {kind.__name__}")
        return protocol.Done(id=command.id)

    def _check(self, command: protocol.Check) -> protocol.Checked:
        assert len(command.slots) == len(command.returned)
        assert all(self.device.filled[slot] == "seen" for slot in command.slots), "an output was checked before a call"
        wrong = [place for place, slot in enumerate(command.slots) if slot in self.device.wrong]
        report = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, message="3 of 4 elements differ")
        return protocol.Checked(
            id=command.id,
            right=len(command.slots) - len(wrong),
            first_wrong=wrong[0] if wrong else None,
            reports=(report,) if wrong and self.report_trouble is None else (),
            trouble=self.report_trouble if wrong else None,
        )

    def _time(self, command: protocol.TimeBaseline) -> protocol.AnyReply:
        device, script = self.device, self.baselines[command.name]
        device.log.append((command.name, command.mode.value, str(len(command.slots))))
        assert all(slot in device.filled for slot in command.slots), "the judge has no copy of a slot never filled"
        if script.fails_with is not None and self.asked[protocol.TimeBaseline] >= script.fails_from:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=script.fails_with)
        if command.mode is protocol.CallMode.SINGLE:
            calls = single(device, script, command.slots, 0)
            return protocol.Timed(id=command.id, calls=calls, method=script.method, reason=script.reason)
        if command.mode is protocol.CallMode.CAPTURE and not script.capturable:
            message = f"{command.name} cannot be captured"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        busy_us = sum(device.busy_us(script) for _ in command.slots)
        device.clock.work(busy_us * 1e-6)
        return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * 1e3))
