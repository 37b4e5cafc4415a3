"""A tape is tried on new inputs, and on those of its call."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from msgspec.structs import replace as replace_fields

from engine import protocol
from engine.model import Case, DType, Rearrangement, Tier
from engine.model.proof import CaseProof, Gap
from engine.protocol.proof.tape import Given, Tape, TapedStorage
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.proof_of_tape import (
    ProofAttempt,
    TapedCase,
    refuted_as_called,
    refuted_backwards,
    refuted_by,
    try_on_other_inputs,
    try_to_prove,
)
from engine.run.proving.replays import NotReplayed, Replayed, Replays
from engine.run.proving.taped_calls import CallOutputs
from tests.engine.replay.tapes import launched, tape, vector

CASE = Case(name="a", dtype=DType.FLOAT32, tier=Tier.FULL, params={})
TAPED = TapedCase(case=CASE, tape=tape(launched(vector(0), vector(1))), kernels=())
CALL = CallOutputs(seed=7, digest="a" * 64)
MISMATCH = "return: 3 of 6 wrong"
WRONG = ProofAttempt(
    proof=CaseProof(case="a", gap=Gap.NOT_REPRODUCED, reason="no step gives the answer"),
    replayed=Replayed(mismatch=MISMATCH, moved_bytes=0, foreign=(), by_kernels=True),
)
MEMORY = ProofAttempt(proof=CaseProof(case="a", gap=Gap.MEMORY, reason="24 bytes"), replayed=WRONG.replayed)
PROVEN = ProofAttempt(proof=CaseProof(case="a"))


@pytest.mark.parametrize(
    ("on_others", "on_own", "gap", "seeds"),
    [
        (PROVEN, PROVEN, None, [None]),
        (MEMORY, PROVEN, Gap.MEMORY, [None]),
        (WRONG, WRONG, Gap.NOT_REPRODUCED, [None, 7]),
        (WRONG, PROVEN, Gap.OTHER_INPUTS, [None, 7]),
    ],
    ids=["right", "memory", "wrong on its own too", "right on its own"],
)
async def test_gap_depends_on_the_own_inputs(
    monkeypatch: pytest.MonkeyPatch,
    on_others: ProofAttempt,
    on_own: ProofAttempt,
    gap: Gap | None,
    seeds: list[int | None],
) -> None:
    asked: list[int | None] = []

    async def replay(replays: Replays, taped: TapedCase, *, seed: int | None = None) -> ProofAttempt:
        asked.append(seed)
        return on_others if seed is None else on_own

    monkeypatch.setattr("engine.run.proving.proof_of_tape.try_to_prove", replay)
    tried = await try_on_other_inputs(cast("Replays", None), TAPED, own_seed=7)
    assert (tried.proof.gap, asked) == (gap, seeds)
    assert (MISMATCH in tried.proof.reason) is (gap is Gap.OTHER_INPUTS)


@pytest.mark.parametrize(
    ("on_others", "on_own", "gap", "reason"),
    [
        (PROVEN, PROVEN, None, ""),
        (WRONG, WRONG, Gap.NOT_REPRODUCED, "the kernels that ran are not those of the file: no step gives the answer"),
        (WRONG, PROVEN, Gap.OTHER_INPUTS, f"right on the inputs of its calls, but wrong on others: {MISMATCH}"),
    ],
    ids=["right", "other kernels", "wrong kernels"],
)
async def test_executed_kernels_refute_a_proof_unless_they_are_only_wrong(
    monkeypatch: pytest.MonkeyPatch, on_others: ProofAttempt, on_own: ProofAttempt, gap: Gap | None, reason: str
) -> None:
    async def replay(replays: Replays, taped: TapedCase, *, seed: int | None = None) -> ProofAttempt:
        return on_others if seed is None else on_own

    monkeypatch.setattr("engine.run.proving.proof_of_tape.try_to_prove", replay)
    proof = await refuted_by(cast("Replays", None), TAPED, own_seed=7)
    assert (proof and (proof.gap, proof.reason)) == (gap and (gap, reason))


class _Outputs:
    """Replays that give outputs with these digests, a letter each, in turn; "-" is one that was not executed."""

    def __init__(self, digests: str, *, on_device: bool = False, has_one_answer: bool = True) -> None:
        self.digests, self.on_device, self.has_one_answer = digests, on_device, has_one_answer
        self.seeds: list[int | None] = []

    async def replay(self, *_: object, without: tuple[int, ...], seed: int | None = None) -> Replayed | NotReplayed:
        digest = self.digests[len(self.seeds)]
        self.seeds.append(seed)
        if digest == "-":
            return NotReplayed(reason="an operation")
        digests = protocol.ContentDigests(inputs="0" * 64, expected="1" * 64, outputs=digest * 64)
        return Replayed(mismatch="", moved_bytes=0, foreign=(), by_kernels=True, digests=digests)


@pytest.mark.parametrize(
    ("replayed", "gap"),
    [
        ("a", None),
        ("bb", Gap.OTHER_OUTPUTS),
        ("ba", Gap.OTHER_OUTPUTS),
        ("bc", Gap.OTHER_OUTPUTS),
        ("b-", Gap.UNSUPPORTED),
        ("-", Gap.UNSUPPORTED),
    ],
    ids=["same", "others twice", "same later", "others each time", "not executed again", "not executed"],
)
async def test_replays_of_a_call_must_give_its_outputs(replayed: str, gap: Gap | None) -> None:
    replays = _Outputs(replayed)
    refuted = await refuted_as_called(cast("Replays", replays), TAPED, CALL)
    assert (refuted and refuted.gap) == gap
    assert replays.seeds == [7] * len(replayed)


@pytest.mark.parametrize("options", [{"on_device": True}, {"has_one_answer": False}], ids=["device", "any content"])
async def test_replays_may_differ_where_any_content_is_right_and_on_a_device(options: dict[str, bool]) -> None:
    assert await refuted_as_called(cast("Replays", _Outputs("bc", **options)), TAPED, CALL) is None


@pytest.mark.parametrize(("on_device", "differs", "seeds"), [(True, False, []), (False, True, [7, 7])])
async def test_outputs_of_atomic_operations_are_not_compared_in_bits_on_a_device(
    seeds: list[int], *, on_device: bool, differs: bool
) -> None:
    kernel = LoweredKernel(name="k", ttir="%0 = tt.atomic_rmw fadd, %p, %v", arguments=())
    replays = _Outputs("bb", on_device=on_device)
    refuted = await refuted_as_called(cast("Replays", replays), replace(TAPED, kernels=(kernel,)), CALL)
    assert ((refuted is not None), replays.seeds) == (differs, seeds)


CONSTANT = Given(storage=1, line=8, data=bytes(range(24)))


class _Right:
    """Replays of a problem with this rearrangement that are right, but not `without` the constant if it is `needed`."""

    def __init__(
        self, rearrangement: Rearrangement, replayed: Replayed, *, needed: bool, has_one_answer: bool = True
    ) -> None:
        self.rearrangement, self.has_one_answer = rearrangement, has_one_answer
        self.without: list[tuple[int, ...]] = []
        self._replayed, self._needed = replayed, needed

    async def replay(self, *_: object, without: tuple[int, ...], **__: object) -> Replayed:
        self.without.append(without)
        return replace(self._replayed, mismatch="wrong" if without and self._needed else "")


@pytest.mark.parametrize(
    ("rearrangement", "answer_bytes", "table_bytes", "needed", "gap", "replays"),
    [
        (Rearrangement.NO, 24, 24, True, Gap.MEMORY, 2),
        (Rearrangement.NO, 24, 24, False, None, 2),
        (Rearrangement.NO, 25, 24, True, None, 1),
        (Rearrangement.NO, 24, 25, True, None, 1),
        (Rearrangement.YES, 24, 24, True, None, 1),
        (Rearrangement.YES, 24, 0, True, Gap.MEMORY, 2),
    ],
    ids=["table", "not needed", "larger answer", "no room for a table", "moved floats", "no floats"],
)
async def test_constants_that_can_hold_the_answer_must_not_be_needed(
    rearrangement: Rearrangement, answer_bytes: int, table_bytes: int, gap: Gap | None, replays: int, *, needed: bool
) -> None:
    right = Replayed(
        mismatch="", moved_bytes=0, foreign=(0,), by_kernels=True, answer_bytes=answer_bytes, table_bytes=table_bytes
    )
    replaying = _Right(rearrangement, right, needed=needed)
    taped = replace(TAPED, tape=tape(CONSTANT, launched(vector(0), vector(1))))
    tried = await try_to_prove(cast("Replays", replaying), taped)
    assert (tried.proof.gap, replaying.without) == (gap, [(), (0,)][:replays])


async def test_answer_without_content_is_a_constant() -> None:
    right = Replayed(
        mismatch="", moved_bytes=0, foreign=(0,), by_kernels=True, answer_bytes=24, table_bytes=24, no_content=True
    )
    replaying = _Right(Rearrangement.NO, right, needed=True)
    taped = replace(TAPED, tape=tape(CONSTANT, launched(vector(0), vector(1))))
    tried = await try_to_prove(cast("Replays", replaying), taped)
    assert (tried.proof.gap, replaying.without) == (None, [()])


class _Kept(_Right):
    """Replays that are right, and `with_content` where the content of memory of unknown origin is used."""

    def __init__(self, with_content: str | NotReplayed = "", *, has_one_answer: bool = True) -> None:
        right = Replayed(mismatch="", moved_bytes=0, foreign=(0,), by_kernels=True, answer_bytes=24)
        super().__init__(Rearrangement.NO, right, needed=False, has_one_answer=has_one_answer)
        self._with_content = with_content

    async def replay(self, *_: object, without: tuple[int, ...], **__: object) -> Replayed | NotReplayed:  # type: ignore[override]  # of more kinds
        self.without.append(without)
        if without:
            return self._replayed
        if isinstance(self._with_content, NotReplayed):
            return self._with_content
        return replace(self._replayed, mismatch=self._with_content)


@pytest.mark.parametrize(
    ("with_content", "gap", "reason"),
    [
        ("", None, ""),
        (MISMATCH, Gap.MEMORY, "with whose content the answer is wrong for other inputs"),
        (NotReplayed(reason="out of bounds", stopped=True), Gap.MEMORY, "with whose content the answer is wrong"),
        (NotReplayed(reason="it took 30 s"), Gap.UNSUPPORTED, "not replayed: it took 30 s"),
    ],
    ids=["right", "wrong", "stopped", "not replayed"],
)
async def test_answer_must_not_depend_on_what_scratch_memory_held(
    with_content: str | NotReplayed, gap: Gap | None, reason: str
) -> None:
    replays = _Kept(with_content)
    taped = replace(TAPED, tape=tape(CONSTANT, launched(vector(0), vector(1))), varying=(0,))
    tried = await try_to_prove(cast("Replays", replays), taped)
    assert (tried.proof.gap, replays.without) == (gap, [(0,), ()])
    assert reason in tried.proof.reason


class _AsCalled:
    """Replays that do not give the answer `without` these Given steps, nor, with `wrong` memory, with all of them.

    With `noise` the replays with noise in a step are not executed.
    """

    def __init__(
        self,
        needed: tuple[int, ...] = (),
        *,
        wrong: str | NotReplayed = "",
        noise: NotReplayed | None = None,
        on_device: bool = False,
        foreign: tuple[int, ...] = (0, 1),
    ) -> None:
        self._noise, self._foreign = noise, foreign
        self.on_device = on_device
        self.without: list[tuple[int, ...]] = []
        self._needed, self._wrong = needed, wrong

    async def replay(self, *_: object, without: tuple[int, ...], seed: int) -> Replayed | NotReplayed:
        assert seed == CALL.seed
        self.without.append(without)
        if isinstance(self._wrong, NotReplayed):
            return self._wrong
        if without and self._noise is not None:
            return self._noise
        mismatch = MISMATCH if set(without).intersection(self._needed) else self._wrong
        digests = protocol.ContentDigests(inputs="0" * 64, expected="1" * 64, outputs=CALL.digest)
        return Replayed(mismatch=mismatch, moved_bytes=0, foreign=self._foreign, by_kernels=True, digests=digests)


@pytest.mark.parametrize(("pieces", "gap"), [(16, None), (17, Gap.UNSUPPORTED)])
async def test_more_scratch_memory_than_is_replaced_proves_nothing(pieces: int, gap: Gap | None) -> None:
    numbers = tuple(range(pieces))
    scratch = (replace_fields(CONSTANT, line=line) for line in numbers)
    taped = replace(TAPED, tape=tape(*scratch, launched(vector(0), vector(1))), varying=numbers)
    refuted = await refuted_as_called(cast("Replays", _AsCalled(foreign=numbers)), taped, CALL)
    assert (refuted and refuted.gap) == gap


@pytest.mark.parametrize(
    ("replays", "gap", "reason", "without"),
    [
        (_AsCalled(), None, "", [(), (0,), (1,)]),
        (_AsCalled((1,)), Gap.MEMORY, "memory of unknown origin: 24 bytes (line 9), without whose", [(), (0,), (1,)]),
        (_AsCalled(wrong=MISMATCH), Gap.NOT_REPRODUCED, "wrong with the addresses and the memory of its call", [()]),
        (_AsCalled(wrong=NotReplayed(reason="out of bounds", stopped=True)), Gap.UNSUPPORTED, "out of bounds", [()]),
        (_AsCalled(wrong=NotReplayed(reason="it took 30 s")), Gap.UNSUPPORTED, "not replayed: it took 30 s", [()]),
        (
            _AsCalled(noise=NotReplayed(reason="out of bounds", stopped=True)),
            Gap.MEMORY,
            "(line 8), without",
            [(), (0,)],
        ),
        (_AsCalled(noise=NotReplayed(reason="it took 30 s")), Gap.UNSUPPORTED, "it took 30 s", [(), (0,)]),
        (_AsCalled((1,), on_device=True), None, "", [(0, 1)]),
    ],
    ids=["scratch", "answer in scratch", "wrong", "stopped", "late", "stopped by noise", "late with noise", "device"],
)
async def test_tape_must_give_the_answer_as_it_was_called(
    replays: _AsCalled, gap: Gap | None, reason: str, without: list[tuple[int, ...]]
) -> None:
    scratch = (CONSTANT, replace_fields(CONSTANT, line=9))
    taped = replace(TAPED, tape=tape(*scratch, launched(vector(0), vector(1))), varying=(0, 1))
    refuted = await refuted_as_called(cast("Replays", replays), taped, CALL)
    assert ((refuted and refuted.gap), replays.without) == (gap, without)
    assert refuted is None or reason in refuted.reason


class _Backwards:
    """Replays in descending order, which give this result."""

    def __init__(self, result: Replayed | NotReplayed) -> None:
        self._result = result
        self.asked: list[tuple[int, bool]] = []

    async def replay(self, *_: object, without: tuple[int, ...], seed: int, backwards: bool) -> Replayed | NotReplayed:
        assert without == TAPED.varying
        self.asked.append((seed, backwards))
        return self._result


RIGHT = Replayed(mismatch="", moved_bytes=0, foreign=(), by_kernels=True, seed=5)


@pytest.mark.parametrize(
    ("may_wait", "result", "gap", "asked"),
    [
        (False, replace(RIGHT, mismatch=MISMATCH), None, []),
        (True, RIGHT, None, [(5, True)]),
        (True, replace(RIGHT, mismatch=MISMATCH), Gap.OTHER_INPUTS, [(5, True)]),
        (True, NotReplayed(reason="it took 30 s"), None, [(5, True)]),
    ],
    ids=["no lock", "right in both orders", "wrong backwards", "late"],
)
async def test_kernels_with_locks_must_be_right_backwards(
    result: Replayed | NotReplayed, gap: Gap | None, asked: list[tuple[int, bool]], *, may_wait: bool
) -> None:
    replays = _Backwards(result)
    refuted = await refuted_backwards(cast("Replays", replays), TAPED, replace(RIGHT, may_wait=may_wait))
    assert ((refuted and refuted.gap), replays.asked) == (gap, asked)
    assert refuted is None or refuted.reason.endswith(f"in ascending order, but wrong backwards: {MISMATCH}")


@pytest.mark.parametrize(
    ("bytes_", "has_one_answer", "gap"), [(256, True, None), (256, False, Gap.MEMORY), (252, False, None)]
)
async def test_random_numbers_must_not_come_of_scratch_memory(
    bytes_: int, gap: Gap | None, *, has_one_answer: bool
) -> None:
    replays = _Kept(has_one_answer=has_one_answer)
    kept = replace_fields(CONSTANT, storage=2, data=bytes(bytes_))
    recorded = tape(kept, launched(vector(0), vector(1)))
    sized = replace_fields(recorded, storages=(*recorded.storages[:2], TapedStorage(bytes=bytes_)))
    tried = await try_to_prove(cast("Replays", replays), replace(TAPED, tape=sized, varying=(0,)))
    assert tried.proof.gap is gap


OFFSETS = Given(storage=1, operator="aten::floor_divide", line=5, integers=True)


class _Skipping:
    """Replays whose kernels store nothing where integers are noise; with zeros there the answer comes of `foreign`."""

    rearrangement, has_one_answer = Rearrangement.NO, True

    def __init__(self, *foreign: int) -> None:
        self.foreign = foreign
        self.data: list[bytes | None] = []

    async def replay(self, _: object, recorded: Tape, *__: object, **___: object) -> Replayed:
        (step, _launch) = recorded.steps
        assert isinstance(step, Given)
        self.data.append(step.data)
        foreign = self.foreign if step.data is not None else ()
        return Replayed(mismatch=MISMATCH, moved_bytes=0, foreign=foreign, by_kernels=True)


@pytest.mark.parametrize(
    ("step", "foreign", "gap", "data"),
    [
        (OFFSETS, (0,), Gap.TORCH_LIGHT, [None, bytes(24)]),
        (OFFSETS, (), Gap.NOT_REPRODUCED, [None, bytes(24)]),
        (replace_fields(OFFSETS, integers=False), (0,), Gap.NOT_REPRODUCED, [None]),
    ],
    ids=["stores at zero", "stores nothing", "no integers"],
)
async def test_kernels_that_skip_negative_positions_are_replayed_with_zeros(
    step: Given, foreign: tuple[int, ...], gap: Gap, data: list[bytes | None]
) -> None:
    replays = _Skipping(*foreign)
    taped = replace(TAPED, tape=tape(step, launched(vector(0), vector(1))))
    tried = await try_to_prove(cast("Replays", replays), taped)
    assert (tried.proof.gap, replays.data) == (gap, data)
