"""A toy problem, and a judge and a worker on slots of one scripted device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from engine import protocol
from engine.clock.scripted import ScriptedDevice
from engine.clock.stopwatch import Stopwatch
from engine.judge.benchmark.slots import Slots
from engine.model import CacheState, Case, Cost, DType, ProblemDefinition, ProblemId, Tier, Tolerance
from engine.protocol import tensors

CPU = torch.device("cpu")
CASE = Case(name="one", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
EIGHT = tuple(range(8))
TOY = ProblemId(source="toy", name="toy::f")


def toy(
    signature: str, make_inputs: Callable[..., Any], reference: Callable[..., Any], **changes: Any
) -> ProblemDefinition:
    fields: dict[str, Any] = {"eager": reference, "tolerance": lambda case: Tolerance(relative=1e-6, absolute=1e-6)}
    return ProblemDefinition(
        name="toy::f",
        entry="f",
        signature=signature,
        summary="",
        category="toy",
        cases=(CASE,),
        make_inputs=make_inputs,
        reference=reference,
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
        **{**fields, **changes},
    )


def vector(case: Case, rng: torch.Generator) -> tuple[torch.Tensor]:
    return (torch.randn(100, generator=rng),)


DOUBLE = toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2)


class Bench:
    """A judge with a case arranged and a worker that has occupied its slots, on one scripted device."""

    def __init__(
        self, problem: ProblemDefinition, case: str = "one", *, most_slots: int = 8, cache_bytes: int = 1 << 20
    ) -> None:
        self.device = ScriptedDevice(cache_bytes=cache_bytes)
        self.problem = problem
        self.entry: Callable[..., Any] = problem.eager
        self.slots = Slots(
            CPU,
            lambda _: problem,
            instruments=self.device.instruments(),
            memory=lambda _, size_bytes: self.device.memory(size_bytes),
        )
        self.worker = Stopwatch(
            CPU, lambda: self.entry, instruments=self.device.instruments(), open_block=self.device.open_block
        )
        self.arranged = self.ask(
            protocol.Arrange(id="i", problem=TOY, case=case, most_slots=most_slots, most_bytes=1 << 24),
            protocol.Arranged,
        )
        layout = self.arranged.layouts[0]
        occupied = self.worker.carry_out(
            protocol.OpenSlots(id="i", case=case, arguments=self.arranged.arguments, layout=layout)
        )
        assert occupied == protocol.Done(id="i")

    def ask(self, command: Any, kind: type[Any]) -> Any:
        reply = self.slots.carry_out(command)
        assert isinstance(reply, kind), reply
        return reply

    def refresh(self, *slots: int) -> None:
        self.ask(protocol.Refresh(id="i", slots=slots), protocol.Done)

    def timed(
        self, *slots: int, mode: protocol.CallMode = protocol.CallMode.SINGLE, cache: CacheState = CacheState.COLD
    ) -> protocol.Timed:
        if mode is not protocol.CallMode.SINGLE:
            assert self.worker.carry_out(protocol.Fetch(id="i", slots=slots, cache=cache)) == protocol.Done(id="i")
        reply = self.worker.carry_out(protocol.TimeCalls(id="i", slots=slots, mode=mode, cache=cache))
        assert isinstance(reply, protocol.Timed), reply
        return reply

    def check(
        self, slots: tuple[int, ...], returned: tuple[tuple[protocol.ReturnedSpec, ...], ...]
    ) -> protocol.Checked:
        checked = self.ask(protocol.Check(id="i", slots=slots, returned=returned), protocol.Checked)
        assert isinstance(checked, protocol.Checked)
        return checked

    def run(self, *slots: int) -> protocol.Checked:
        """One chunk: refreshed, timed, checked."""
        self.refresh(*slots)
        return self.check(slots, self.timed(*slots).returned)

    def baseline(
        self, *slots: int, mode: protocol.CallMode = protocol.CallMode.SINGLE, cache: CacheState = CacheState.COLD
    ) -> protocol.Timed:
        reply = self.ask(
            protocol.TimeBaseline(id="i", name="eager", slots=slots, mode=mode, cache=cache), protocol.Timed
        )
        assert isinstance(reply, protocol.Timed)
        return reply

    def prepare(self, name: str = "eager") -> protocol.AnyReply:
        return self.slots.carry_out(protocol.PrepareBaseline(id="i", name=name))

    def slot(self, number: int) -> torch.Tensor:
        """The bytes of a slot."""
        layout = self.arranged.layouts[0]
        first = layout.first + number * layout.stride
        return self.device.blocks[-1].content[first : first + layout.stride]

    def number_of(self, argument: torch.Tensor) -> int:
        """Number of the slot of an argument, in the worker's own memory."""
        return (argument.data_ptr() - self.worker._slots[0].own.data_ptr()) // self.arranged.layouts[0].stride

    def own(self, at: int, count: int) -> torch.Tensor:
        """Bytes of the worker's own memory, which a candidate can write to by address."""
        address = self.worker._slots[0].own.data_ptr() + at
        return torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)

    def storage(self, number: int, storage: int = 0) -> torch.Tensor:
        return tensors.part(self.slot(number), self.arranged.layouts[0].storages[storage])


REAL = (
    ("aten::softmax", "7x781 f32"),
    ("aten::softmax", "13x65 bf16 transposed"),
    ("aten::softmax", "0x5 f32"),
    ("vllm::fused_add_rms_norm", "5x497 bf16"),
    ("vllm::topk_softmax", "5x64 top 4"),
    ("cublas::cublasSaxpy_v2", "497 alpha 0.5 inc 2 3"),
    ("aten::gather", "9x65 dim 1 bf16"),
)
