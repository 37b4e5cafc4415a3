"""The worker that verified is asked once what it has seen; whatever it answers becomes a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.devices import Device
from engine.model import (
    Candidate,
    Case,
    CaseResult,
    Cost,
    DType,
    Finding,
    Limits,
    Outcome,
    OutputReport,
    Plan,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
)
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import behaviour, observations_of
from engine.probes.lab.case_session import Lab, PassedCase
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from tests.candidates import cheat, stated
from tests.engine.run.right_replies import reply_to

if TYPE_CHECKING:
    from tests.engine.conftest import Employ, FakeForkServer

PROBLEM = ProblemDefinition(
    name="toy::twice",
    entry="f",
    signature="f(x: Tensor) -> Tensor",
    summary="",
    category="toy",
    cases=(Case(name="a", dtype=DType.FLOAT32, tier=Tier.FULL, params={}),),
    make_inputs=lambda case, rng: (),
    reference=lambda x: x,
    eager=lambda x: x,
    tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
).problem("toy_problems")

PASSED = (
    PassedCase(
        case=PROBLEM.cases[0],
        launches=(),
        result=CaseResult(case="a", tier=Tier.FULL, outcome=Outcome.PASS, elapsed_s=0.1, calls=2, seed=1),
    ),
)

RIGHT = OutputReport(name="return", outcome=Outcome.PASS)
Reply = Callable[[str], protocol.AnyReply | bytes | None]


class Scene:
    """A lab whose worker is played here; `reply` says what it answers to an Observe of an id, None that it dies."""

    def __init__(self, employ: Employ, reply: Reply, *, right: int = 4) -> None:
        self._reply = reply
        self._right = right
        self.observed: list[bool] = []
        self.asked: list[str] = []
        self.fork_server: FakeForkServer
        self.fork_server, process_pool = employ(self._play)
        session = CandidateSession(
            LoadRequest(candidate=Candidate(source=b"", problem="toy::twice"), entry="f"),
            spare=process_pool.worker,
            limits=Limits(),
            on_log=lambda *_: None,
        )
        self.lab = Lab(
            plan=Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None),
            passed=PASSED,
            session=session,
            device=Device(platform="cpu", index=0, name="cpu"),
            process_pool=process_pool,
            limits=Limits(),
            profile=Profile(lambda: 0.0, started=0.0),
        )

    async def reported(self) -> tuple[list[Finding], LayerReport]:
        seen = [one async for one in observations_of(behaviour, self.lab)]
        (report,) = (one for one in seen if isinstance(one, LayerReport))
        return [one for one in seen if isinstance(one, Finding)], report

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes | None:
        self.asked.append(type(command).__name__)
        match command:
            case protocol.Call():
                self.observed.append(command.observe)
                return reply_to(command, RIGHT)
            case protocol.Load() | protocol.Prepare() | protocol.Refill() | protocol.Release():
                return reply_to(command, RIGHT)
            case protocol.CountCorrect():
                survival = protocol.CorrectCount(name="return", total=4, right=self._right, trivial=0)
                return protocol.CorrectCounted(id=command.id, outputs=(survival,))
        reply = self._reply(command.id)
        if reply is None:
            worker = self.fork_server.pids_of("worker")[0]
            self.fork_server.die(worker)
        return reply


async def reported(employ: Employ, reply: Reply) -> tuple[list[Finding], LayerReport]:
    scene = Scene(employ, reply)
    await scene.lab.session.load()
    reported = await scene.reported()
    assert scene.asked.count("Observe") == 1
    await scene.lab.session.clear()
    return reported


async def test_observed_side_effect_is_found(employ: Employ) -> None:
    change = protocol.ChangeSeen(kind=protocol.ChangeKind.FUNCTION, name="torch.allclose", detail="agree")
    (finding,), report = await reported(employ, lambda identifier: protocol.Observed(id=identifier, changes=(change,)))
    assert report.coverage is Coverage.CHECKED
    assert (finding.check, finding.severity) == ("behaviour", Severity.SUSPECT)
    assert finding.message == "replaced functions of other modules: torch.allclose (agree)"


async def test_lines_of_observed_operators_are_collected(employ: Employ) -> None:
    seen = protocol.OperatorSeen(name="aten::silu", kind=protocol.OperatorKind.COMPUTE, case="a", line=9)
    scene = Scene(employ, lambda identifier: protocol.Observed(id=identifier, operators=(seen,)))
    await scene.lab.session.load()
    await scene.reported()
    await scene.lab.session.clear()
    assert scene.lab.torch_lines == {9}


async def test_worker_without_observation_gives_no_finding(employ: Employ) -> None:
    findings, report = await reported(employ, lambda identifier: protocol.Observed(id=identifier))
    assert (findings, report.layer, report.coverage) == ([], Layer.BEHAVIOUR, Coverage.CHECKED)


async def test_unobservable_behaviour_leaves_layer_unchecked(employ: Employ) -> None:
    findings, report = await reported(employ, lambda identifier: protocol.Observed(id=identifier, unchecked=("a", "b")))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "a; b")


@pytest.mark.parametrize(
    "reply",
    [
        lambda identifier: b"praise\n",
        lambda identifier: protocol.Observed(id="0" * 32),
        lambda identifier: protocol.Done(id=identifier),
    ],
    ids=["noise", "unknown id", "another reply"],
)
async def test_a_forged_answer_is_a_proof(employ: Employ, reply: Reply) -> None:
    (finding,), report = await reported(employ, reply)
    assert (finding.check, finding.severity) == ("behaviour", Severity.PROOF)
    assert finding.message.startswith(("candidate tampered with the result channel", "the candidate answered with"))
    assert (report.coverage, report.why) == (Coverage.NOT_CHECKED, "the record was forged")


@pytest.mark.parametrize(
    "reply",
    [
        lambda identifier: None,
        lambda identifier: protocol.Failed(id=identifier, kind=protocol.FailureKind.RAISED, message="TypeError: \nno"),
    ],
    ids=["death", "failure"],
)
async def test_missing_reply_is_reported(employ: Employ, reply: Reply) -> None:
    findings, report = await reported(employ, reply)
    assert (findings, report.coverage) == ([], Coverage.NOT_CHECKED)
    assert report.why


@pytest.mark.parametrize(
    ("right", "coverage", "why"),
    [
        (4, Coverage.CHECKED, ""),
        (3, Coverage.NOT_CHECKED, "its worker had exited, and another call of a failed verification"),
    ],
)
async def test_lost_worker_is_replaced_and_called_again(
    employ: Employ, right: int, coverage: Coverage, why: str
) -> None:
    scene = Scene(employ, lambda identifier: protocol.Observed(id=identifier), right=right)
    findings, report = await scene.reported()
    assert (findings, report.coverage, report.why) == ([], coverage, why)
    assert scene.observed == [True]
    assert scene.asked.count("Observe") == (coverage is Coverage.CHECKED)
    await scene.lab.session.clear()


@pytest.mark.parametrize("name", behaviour.CATCHES)
def test_stated_catches_are_in_the_corpus(name: str) -> None:
    assert "behaviour" in stated(cheat(name.removesuffix(".py"))).findings
