"""The replayer holds kernels, limits what it reads, and answers everything that is wrong with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from engine import protocol
from engine.protocol.proof.tape import Addressed, Filled, Launched, Moved, Step, TapedPlace, TapedView
from engine.replay import main
from engine.replay.main import Replayer, are_stored_by_kernels, fractional_storages, is_filled
from tests.engine.replay.tapes import (
    DOUBLE,
    ELEMENTS,
    FIRST_OF,
    content,
    double,
    launched,
    replay_on_host,
    tape,
    vector,
    zeros,
)

ARENA = protocol.ArenaSpec(storages=(protocol.StorageSpec(offset=0, bytes=24),), bytes=24, path="/nowhere/arena")


def holding(replayer: Replayer, ttir: str = DOUBLE) -> protocol.AnyReply:
    return replayer.carry_out(protocol.HoldKernel(id="i", name="k", ttir=ttir, arguments=("x", "y", "n")))


def replaying(replayer: Replayer, *, most_bytes: int = 1 << 20, kernels: tuple[str, ...] = ("k",)) -> protocol.AnyReply:
    return replayer.carry_out(
        protocol.ReplayTape(
            id="i", tape=tape(launched(vector(0), vector(1))), kernels=kernels, arena=ARENA, outputs="/nowhere/out",
            max_output_bytes=100, most_bytes=most_bytes,
        )
    )  # fmt: skip


@pytest.mark.parametrize(("limits", "limited"), [(True, [("/shared",)]), (False, [])], ids=["landlock", "none"])
def test_reading_is_limited_if_supported(
    monkeypatch: pytest.MonkeyPatch, limits: bool, limited: list[tuple[str, ...]]
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(main, "limit_reading", asked.append)
    command = protocol.LimitReading(id="i", readable=("/shared",))
    assert Replayer(limits_reading=limits).carry_out(command) == protocol.Done(id="i")
    assert asked == limited


def test_dropped_module_is_not_held() -> None:
    replayer = Replayer(limits_reading=False)
    holding(replayer)
    assert replayer.carry_out(protocol.DropKernels(id="d")) == protocol.Done(id="d")
    failed = replaying(replayer)
    assert isinstance(failed, protocol.Failed)
    assert "KeyError" in failed.message


def test_a_module_is_held() -> None:
    assert holding(Replayer(limits_reading=False)) == protocol.Done(id="i")


@pytest.mark.parametrize(
    ("most_bytes", "kernels", "kind", "words"),
    [
        (40, ("k",), protocol.FailureKind.TAMPERED, "its storages have 48 bytes, more than 40"),
        (1 << 20, (), protocol.FailureKind.TAMPERED, "0 kernels for 1 specialisations"),
        (1 << 20, ("k",), protocol.FailureKind.ENGINE, "FileNotFoundError"),
    ],
    ids=["memory", "kernels", "arena"],
)
def test_tape_that_cannot_be_replayed_fails_with_reason(
    most_bytes: int, kernels: tuple[str, ...], kind: protocol.FailureKind, words: str
) -> None:
    replayer = Replayer(limits_reading=False)
    holding(replayer)
    failed = replaying(replayer, most_bytes=most_bytes, kernels=kernels)
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is kind
    assert words in failed.message


def test_kernel_that_makes_pointers_reaches_all_memory(tmp_path: Path) -> None:
    replayer, arena, outputs = Replayer(limits_reading=False), tmp_path / "arena", tmp_path / "outputs"
    arena.write_bytes(content().tobytes())
    replayer.carry_out(protocol.HoldKernel(id="h", name="k", ttir=FIRST_OF, arguments=("x", "y")))
    table = Addressed(storage=2, words=(TapedPlace(storage=0, offset_bytes=8),) * 3)
    launch = launched(vector(2, elements=3, dtype="int64"), vector(1))
    replied = replayer.carry_out(
        protocol.ReplayTape(
            id="r", tape=tape(table, launch, storages=3), kernels=("k",), arena=replace(ARENA, path=str(arena)),
            outputs=str(outputs), max_output_bytes=100, most_bytes=1 << 20,
        )
    )  # fmt: skip
    assert isinstance(replied, protocol.TapeReplayed), replied
    assert np.frombuffer(outputs.read_bytes()[:4], np.float32).tolist() == [2.0]


@pytest.mark.parametrize(
    ("returned", "steps", "stored"),
    [
        ((vector(1),), (launched(vector(0), vector(1)),), True),
        ((vector(1),), (Moved(target=vector(1), source=vector(0)),), False),
        ((vector(1), vector(0)), (launched(vector(0), vector(1)),), True),
        ((vector(1), vector(0)), (Moved(target=vector(1), source=vector(0)),), False),
        ((vector(1), vector(0)), (launched(vector(0), vector(1)), Moved(target=vector(0), source=vector(2))), False),
        ((vector(0),), (launched(vector(0), vector(1)),), False),
    ],
    ids=["launch", "move", "argument beside a launch", "argument beside a move", "argument moved to", "argument alone"],
)
def test_outputs_are_stored_by_kernels_or_arguments_as_they_came(
    returned: tuple[TapedView, ...], steps: tuple[Step, ...], stored: bool
) -> None:
    made = tape(*steps, returned=returned, storages=3)
    state = replay_on_host(made, [content()], {0: double()}, poison=zeros)
    assert are_stored_by_kernels(made, state) is stored


@pytest.mark.parametrize(
    ("dtypes", "storages"),
    [(("float32",), {0}), (("float32", "bfloat16"), {0}), (("int32",), set()), (("float32", "uint8"), set())],
)
def test_storages_with_fractions_alone_are_fractional(dtypes: tuple[str, ...], storages: set[int]) -> None:
    command = protocol.ReplayTape(
        id="i", tape=tape(launched(vector(0), vector(1))), kernels=("k",), arena=ARENA, outputs="",
        max_output_bytes=0, most_bytes=0,
        arguments=tuple(protocol.TensorSpec(storage=0, dtype=one, shape=(1,), strides=(1,), first=0) for one in dtypes),
    )  # fmt: skip
    assert fractional_storages(command.tape, command) == storages


FILL = Filled(target=vector(1), element=bytes(4))


def on_itself(elements: int) -> Launched:
    """A kernel that stores the first elements of storage 1."""
    view = vector(1, elements=elements)
    return launched(view, view, n=elements)


@pytest.mark.parametrize(
    ("steps", "filled"),
    [
        ((FILL,), True),
        ((FILL, on_itself(1)), True),
        ((FILL, on_itself(ELEMENTS)), False),
        ((FILL, launched(vector(0, elements=1), vector(1, elements=1), n=1)), False),
        ((Moved(target=vector(1), source=vector(0)),), False),
        ((on_itself(ELEMENTS),), False),
    ],
    ids=["fill", "fill and one store", "fill and all stores", "element of the argument", "move", "kernel"],
)
def test_constant_answer_that_torch_filled_is_known(steps: tuple[Step, ...], filled: bool) -> None:
    state = replay_on_host(tape(*steps), [content()], {0: double()}, poison=zeros)
    assert is_filled([vector(1)], state) is filled


def test_a_module_with_an_unknown_operation_is_refused() -> None:
    ttir = DOUBLE.replace("arith.mulf %v, %two : tensor<8xf32>", "tt.no_such_operation %v : tensor<8xf32>")
    failed = holding(Replayer(limits_reading=False), ttir)
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is not protocol.FailureKind.ENGINE
