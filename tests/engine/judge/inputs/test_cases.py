"""What is kept of a case for the next run: at most so many bytes, and those that were met last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine import protocol
from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.judge.inputs.cases import ArenaMemory, Content, Contents, is_idle
from engine.judge.inputs.outputs import expected_outputs, take
from engine.model import Case, Cost, DType, Outcome, OutputReport, ProblemDefinition, Tier, Tolerance
from tests.operators import definition

CASES = tuple(Case(name=name, dtype=DType.UINT8, tier=Tier.SMOKE, params={}) for name in "abcd")
MIB = 1 << 20


def answering(size_bytes: int) -> ProblemDefinition:
    """A problem whose expected output is of this size; nothing is ever written to it, so that it costs no memory."""
    return ProblemDefinition(
        name="toy::large",
        entry="f",
        signature="f(x: Tensor) -> Tensor",
        summary="",
        category="toy",
        cases=CASES,
        make_inputs=lambda case, rng: (torch.rand(8, generator=rng, device=rng.device),),
        reference=lambda x: torch.empty(size_bytes, dtype=torch.uint8),
        eager=lambda x: x,
        tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
    )


Ask = Callable[[str], Content]


def asking(contents: Contents, problem: ProblemDefinition) -> Ask:
    return lambda name: contents.of_case(problem, problem.case(name), None)


@pytest.fixture
def contents() -> Contents:
    return Contents(torch.device("cpu"))


def test_all_cases_of_usual_problem_are_kept(contents: Contents) -> None:
    ask = asking(contents, answering(MIB))
    first = [ask(name) for name in "abcd"]
    again = [ask(name) for name in "abcd"]
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_equally_named_cases_of_problems_are_separate(contents: Contents) -> None:
    one, other = answering(1), answering(1)
    first, second = asking(contents, one)("a"), asking(contents, other)("a")
    assert first.seed != second.seed
    assert asking(contents, one)("a") is first


def test_least_recently_used_content_is_evicted(contents: Contents) -> None:
    ask = asking(contents, answering(200 * MIB))
    kept = {name: ask(name) for name in "ab"}
    assert ask("a") is kept["a"]
    kept["c"] = ask("c")
    assert (ask("a") is kept["a"], ask("c") is kept["c"]) == (True, True)
    assert ask("b").seed != kept["b"].seed


def test_content_above_the_limit_is_kept_alone(contents: Contents) -> None:
    small, large = asking(contents, answering(MIB)), asking(contents, answering(600 * MIB))
    before = small("a")
    first = large("a")
    assert large("a") is first
    assert small("a").seed != before.seed


def test_inputs_and_expected_outputs_both_count(contents: Contents) -> None:
    assert asking(contents, answering(100))("a").bytes == 8 * 4 + 100


def test_expected_outputs_are_made_once_when_needed(contents: Contents) -> None:
    made: list[object] = []
    problem = replace(answering(1), reference=lambda x: made.append(x) or torch.zeros(1))
    content = contents.make(problem, CASES[0], 7)
    assert made == []
    assert content.expected is content.expected
    assert len(made) == 1


def test_content_of_given_seed_is_not_kept(contents: Contents) -> None:
    problem = answering(1)
    given = contents.of_case(problem, CASES[0], 7)
    drawn = contents.of_case(problem, CASES[0], None)
    assert given.seed == 7
    assert drawn.seed != 7
    assert contents.of_case(problem, CASES[0], 7) is not given
    assert contents.of_case(problem, CASES[0], None) is drawn


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none")
@pytest.mark.parametrize("tier", list(Tier))
def test_every_case_is_kept_on_a_device(tier: Tier) -> None:
    contents = Contents(torch.device("cuda"))
    case = Case(name="a", dtype=DType.UINT8, tier=tier, params={})
    problem = answering(1)
    first = contents.of_case(problem, case, None)
    assert contents.of_case(problem, case, None) is first


class Driver:
    """Device memory of limited size, of which every block is only a number."""

    def __init__(self, room_bytes: int) -> None:
        self.room_bytes = room_bytes
        self.asked: list[int] = []

    def allocate(self, size_bytes: int, device: torch.device) -> Any:  # Any: stands for a block
        self.asked.append(size_bytes)
        if size_bytes > self.room_bytes:
            raise DeviceMemoryError("CUDA_ERROR_OUT_OF_MEMORY")
        self.room_bytes -= size_bytes
        return SimpleNamespace(size_bytes=size_bytes)


@pytest.mark.parametrize(
    ("needed", "asked"),
    [((1, 64), (64,)), ((100, 100, 50), (100,)), ((100, 101, 200, 201), (100, 200, 400)), ((100, 300), (100, 300))],
)
def test_larger_case_grows_block_at_least_twofold(needed: tuple[int, ...], asked: tuple[int, ...]) -> None:
    driver = Driver(1000 * MIB)
    memory = ArenaMemory(torch.device("cpu"), allocate=driver.allocate)
    for size in needed:
        assert memory.block(size * MIB).size_bytes >= size * MIB
    assert driver.asked == [size * MIB for size in asked]


def test_block_grows_to_need_without_room_for_double() -> None:
    driver = Driver(250 * MIB)
    memory = ArenaMemory(torch.device("cpu"), allocate=driver.allocate)
    sizes = [memory.block(size * MIB).size_bytes // MIB for size in (100, 140, 10)]
    assert (sizes, [size // MIB for size in driver.asked]) == ([100, 140, 140], [100, 200, 140])
    with pytest.raises(DeviceMemoryError):
        memory.block(150 * MIB)


def test_reference_writing_arguments_gets_private_copies() -> None:
    base = torch.arange(12.0).view(3, 4)
    problem = replace(answering(1), reference=lambda x: x.zero_())
    [written] = expected_outputs(problem, (base.T[1:],))
    assert (written.stride(), written.abs().sum().item()) == ((1, 4), 0.0)
    assert base.tolist() == torch.arange(12.0).view(3, 4).tolist()


def test_reference_writing_into_dict_gets_private_copies() -> None:
    base = torch.ones(3)
    problem = replace(answering(1), reference=lambda given: given["x"].zero_())
    [written] = expected_outputs(problem, ({"x": base},))

    assert (written.tolist(), base.tolist()) == ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])


def returned(shape: tuple[int, ...], dtype: str = "float32", size: int | None = None) -> protocol.ReturnedSpec:
    elements = min(torch.Size(shape).numel(), 1 << 40)
    return protocol.ReturnedSpec(
        type_name="Tensor", dtype=dtype, shape=shape, bytes=4 * elements if size is None else size
    )


@pytest.mark.parametrize(
    ("spec", "outcome", "message"),
    [
        (returned((5,)), Outcome.WRONG_SHAPE, "x has shape (5,), expected (4,)"),
        (returned((1 << 20,)), Outcome.WRONG_SHAPE, "x has shape (1048576,), expected (4,)"),
        (returned((1 << 20,), "float64"), Outcome.WRONG_DTYPE, "x is float64, expected float32"),
        (returned((4,), "float64"), Outcome.WRONG_DTYPE, "x is float64, expected float32"),
        (returned((4,), "quint8"), Outcome.WRONG_DTYPE, "x is quint8, expected float32"),
        (
            returned((4,), size=12),
            Outcome.WRONG_SHAPE,
            "x should have 16 bytes, but the worker reported 12 from byte 0",
        ),
    ],
    ids=["larger", "beyond the place", "beyond the place as another type", "another type", "unknown type", "a lie"],
)
def test_output_of_wrong_kind_is_reported_by_kind(spec: protocol.ReturnedSpec, outcome: Outcome, message: str) -> None:
    report = take("x", spec, torch.zeros(16, dtype=torch.uint8), torch.zeros(4))
    assert isinstance(report, OutputReport)
    assert (report.outcome, report.message) == (outcome, message)


def test_claim_of_too_many_elements_is_reported() -> None:
    spec = protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2**63 - 1,) * 64)
    report = take("x", spec, torch.zeros(16, dtype=torch.uint8), torch.zeros(4))
    assert isinstance(report, OutputReport)
    assert (report.outcome, report.total) == (Outcome.WRONG_SHAPE, 2**63 - 1)


@pytest.mark.parametrize(
    ("operator", "name", "idle"),
    [
        ("vllm::reshape_and_cache", "20x2x64 to 4x16 bf16 20 skipped", True),
        ("vllm::reshape_and_cache", "20x2x64 to 4x16 bf16 1 skipped", False),
        ("vllm::fused_add_rms_norm", "5x497 bf16", False),
        ("aten::softmax", "0x5 f32", False),
    ],
)
def test_case_is_idle_when_reference_changes_nothing(operator: str, name: str, idle: bool) -> None:
    problem = definition(operator)
    content = Contents(torch.device("cpu")).of_case(problem, problem.case(name), 7)
    assert is_idle(problem, content) is idle
