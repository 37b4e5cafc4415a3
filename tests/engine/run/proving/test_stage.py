"""What a case is proven by; a step that the engine failed at is made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from engine.errors import DeadlineError, EngineError, KilledError
from engine.model import Case, CaseResult, DType, Limits, Outcome, OutputReport, Plan, Rearrangement, Tier
from engine.model.proof import CaseProof, Gap
from engine.probes.lab.case_session import Lab, PassedCase
from engine.profile import Profile
from engine.protocol.proof.tape import ClaimedKernel, Tape
from engine.replay.agreement import agreement
from engine.run.event_stream import EventEmitter
from engine.run.proving import conclusion
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.proof_of_tape import ProofAttempt, TapedCase
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.proving.replays import Replays
from engine.run.proving.stage import ProvingStage, _answer_bytes, _least_bytes, _taped_case, repeat_after_errors
from engine.run.proving.taped_calls import CallOutputs, ComparedTapes
from tests.engine.replay.tapes import DOUBLE, launched, tape, vector
from tests.engine.toy_problem import toy_problem

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
RESULT = CaseResult(case="c", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0, calls=3, seed=1)
PASSED = PassedCase(case=CASE, result=RESULT, launches=())
TAPE = tape(launched(vector(0), vector(1)))
ADDRESSES = (4096, 8192)
OUTPUTS = CallOutputs(seed=1, digest="d" * 64)
CLAIMED = ClaimedKernel(ttir=DOUBLE, arguments=("x", "y", "n"))


class _Kernels:
    """A compiler that lowers every kernel to `DOUBLE`."""

    async def of_tape(self, taped: Tape) -> Sequence[LoweredKernel]:
        return (LoweredKernel(name="double", ttir=DOUBLE, arguments=("x", "y", "n")),)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> ProvingStage:
    """The stage of a run with one case, each replay of which proves it and gives `OUTPUTS`."""
    problem = toy_problem(CASE)
    pool = SimpleNamespace(compiler=SimpleNamespace(prepare=lambda: None), interpreted=True)
    lab = SimpleNamespace(
        plan=Plan(problem=problem, cases=(CASE,), device="cuda", target=None), problem=problem, passed=(PASSED,),
        limits=Limits(), process_pool=pool, profile=Profile(lambda: 0.0, started=0.0),
    )  # fmt: skip
    processes = SimpleNamespace(kernels=_Kernels(), replayer=None)

    async def tried(replays: Replays, taped: TapedCase, *, own_seed: int) -> ProofAttempt:
        return ProofAttempt(proof=CaseProof(case=taped.case.name))

    async def refuted(replays: Replays, called: TapedCase, outputs: CallOutputs) -> CaseProof | None:
        assert called.tape.addresses == ADDRESSES
        return None if outputs == OUTPUTS else conclusion.of_other_outputs(called.case.name)

    monkeypatch.setattr("engine.run.proving.stage.try_on_other_inputs", tried)
    monkeypatch.setattr("engine.run.proving.stage.refuted_as_called", refuted)
    emitter = EventEmitter(lambda: 0.0, started=0.0)
    return ProvingStage(lab=cast("Lab", lab), emitter=emitter, processes=cast("ReplayProcesses", processes))


async def proof_of(stage: ProvingStage, made: Tape, outputs: CallOutputs = OUTPUTS) -> CaseProof:
    """The proof of the case by two calls that left this tape and these outputs."""
    made = msgspec.structs.replace(made, addresses=ADDRESSES)
    agreed = agreement(made, msgspec.structs.replace(made, addresses=()))
    return await stage._prove(PASSED, ComparedTapes(tape=made, seed=1, other=made, agreed=agreed, outputs=outputs))


@pytest.mark.parametrize(
    ("claimed", "gap"), [((CLAIMED,), None), ((), Gap.UNSUPPORTED)], ids=["all kernels", "no kernel"]
)
async def test_case_is_proven_only_if_the_worker_reports_the_kernels_that_it_executed(
    stage: ProvingStage, claimed: tuple[ClaimedKernel, ...], gap: Gap | None
) -> None:
    assert (await proof_of(stage, msgspec.structs.replace(TAPE, claimed=claimed))).gap is gap


def test_an_answer_of_bools_needs_a_bit_for_each() -> None:
    outputs = tuple(
        OutputReport(name=dtype, outcome=Outcome.PASS, dtype=dtype, total=total)
        for dtype, total in (("bool", 17), ("float16", 5), ("bool", 8))
    )
    passed = PassedCase(case=CASE, result=replace(RESULT, outputs=outputs), launches=())
    assert (_answer_bytes(passed), _least_bytes(passed)) == (35, 14)


@pytest.mark.parametrize(
    ("dtypes", "rearrangement", "has_fractions"),
    [
        ((), Rearrangement.NO, True),
        (("float32",), Rearrangement.NO, True),
        (("bool", "float32"), Rearrangement.NO, True),
        (("bool",), Rearrangement.NO, False),
        (("int64",), Rearrangement.NO, False),
        (("float32", "int32"), Rearrangement.NO, False),
        (("int8", "float32"), Rearrangement.NO, True),
        (("float32", "int64"), Rearrangement.YES, True),
        (("bool",), Rearrangement.YES, False),
    ],
)
def test_answer_of_bools_or_integers_has_no_fractions(
    dtypes: tuple[str, ...], rearrangement: Rearrangement, *, has_fractions: bool
) -> None:
    outputs = tuple(OutputReport(name=dtype, outcome=Outcome.PASS, dtype=dtype, total=9) for dtype in dtypes)
    passed = PassedCase(case=CASE, result=replace(RESULT, outputs=outputs), launches=())
    taped = _taped_case(passed, msgspec.structs.replace(TAPE, claimed=(CLAIMED,), addresses=ADDRESSES), ())
    assert (taped.answer(rearrangement).has_fractions, taped.tape) == (has_fractions, TAPE)


@pytest.mark.parametrize(("digest", "gap"), [("d", None), ("e", Gap.OTHER_OUTPUTS)])
async def test_case_is_proven_only_if_its_replay_gives_the_outputs_of_a_call(
    stage: ProvingStage, digest: str, gap: Gap | None
) -> None:
    made = msgspec.structs.replace(TAPE, claimed=(CLAIMED,))
    assert (await proof_of(stage, made, CallOutputs(seed=1, digest=digest * 64))).gap is gap
    assert stage.record.cases == 0


@pytest.mark.parametrize(
    ("made", "gap"),
    [
        (TAPE, Gap.MEMORY),
        (msgspec.structs.replace(TAPE, incomplete="a call of more than 8192 steps"), Gap.UNSUPPORTED),
        (None, Gap.UNSUPPORTED),
    ],
    ids=["tape", "incomplete", "no tape"],
)
async def test_proof_of_a_further_case_is_that_of_one_tape(
    stage: ProvingStage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: Tape | None, gap: Gap
) -> None:
    async def tried(replays: Replays, taped: TapedCase) -> ProofAttempt:
        assert (taped.case, taped.tape) == (CASE, TAPE)
        return ProofAttempt(proof=CaseProof(case="c", gap=Gap.MEMORY, reason="24 bytes"))

    monkeypatch.setattr("engine.run.proving.stage.try_to_prove", tried)
    recorded = tmp_path / "a.tape"
    if made is not None:
        recorded.write_bytes(msgspec.json.encode(made))
    proof = await stage.of_call(PASSED, recorded)
    assert (proof.gap, recorded.exists(), stage.proofs) == (gap, False, [])


@pytest.mark.parametrize(
    ("errors", "attempts", "result"),
    [
        ([], 1, "proven"),
        ([KilledError("the judge was killed")], 2, "proven"),
        ([KilledError("the judge was killed"), EngineError("no worker")], 3, "proven"),
        ([EngineError("no judge got ready")] * 8, 8, "no judge got ready"),
        ([DeadlineError("the judge did not answer in 60 s")], 1, "the judge did not answer in 60 s"),
    ],
    ids=["no error", "one death", "two deaths", "no engine", "deadline"],
)
async def test_work_is_done_again_after_a_death(errors: list[EngineError], attempts: int, result: str) -> None:
    left = list(errors)
    made = []

    async def work() -> str:
        made.append(len(left))
        if left:
            raise left.pop(0)
        return "proven"

    try:
        outcome = await repeat_after_errors(work)
    except EngineError as error:
        outcome = str(error)
    assert (outcome, len(made)) == (result, attempts)
