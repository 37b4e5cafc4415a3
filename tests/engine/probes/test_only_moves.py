"""What is made of launches that only moved; the calls are scripted here."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import pytest

from engine import protocol
from engine.model import Case, Finding, Problem, Severity
from engine.model.layers import Coverage
from engine.probes import only_moves
from engine.probes.lab.case_session import CallResult
from tests.engine.probes.scripted import ScriptedLab, observed, passed

COPY, WORK = protocol.Kernel(name="copy", line=3), protocol.Kernel(name="work", line=9)


def launched(kernel: protocol.Kernel, *, moved: int = 0, withheld: int = 0) -> protocol.Withheld:
    return protocol.Withheld(kernel=kernel, launches=1, withheld=withheld, moved=moved)


def came(*ledger: protocol.Withheld, right: int = 1000, total: int = 1000, trivial: int = 0) -> CallResult:
    output = protocol.CorrectCount(name="return", total=total, right=right, trivial=trivial)
    return CallResult(ledger=ledger, outputs=(output,))


@dataclass(kw_only=True)
class LookedAt(ScriptedLab):
    """Stands for a Lab; `without` comes of a call that withholds, `looked` of one that is looked at."""

    looked: Callable[[str], CallResult] = lambda case: came()
    without: CallResult = field(default_factory=came)
    asked: list[tuple[str, protocol.Withhold]] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def at(self, case: Case) -> AsyncIterator[LookedAtSession]:  # type: ignore[override]  # another session
        yield LookedAtSession(lab=self, name=case.name)


@dataclass(frozen=True, kw_only=True)
class LookedAtSession:
    """Stands for one case laid out."""

    lab: LookedAt
    name: str

    async def call(self, *, poison: int, withhold: protocol.Withhold) -> CallResult:
        self.lab.asked.append((self.name, withhold))
        return self.lab.looked(self.name) if withhold.look else self.lab.without


async def reported(*ledger: protocol.Withheld, without: CallResult | None = None, **changes: int) -> list[Finding]:
    lab = LookedAt(
        passed=[passed("c", (1,))], looked=lambda _: came(*ledger, **changes), without=without or came(right=0)
    )
    findings, report = await observed(only_moves.probe, lab)
    assert report.coverage is Coverage.CHECKED
    return findings


async def test_kernel_that_only_copies_output_is_suspect() -> None:
    (finding,) = await reported(launched(COPY, moved=1))
    assert (finding.check, finding.severity, finding.case) == ("only_moves", Severity.SUSPECT, "c")
    assert finding.message == "not computed by its kernels: copy only copied data computed elsewhere"


@pytest.mark.parametrize(("proven", "found"), [("c", 0), ("another", 1)])
async def test_copying_kernel_of_a_proven_case_passes(proven: str, found: int) -> None:
    looked = came(launched(COPY, moved=1))
    lab = LookedAt(passed=[passed("c", (1,))], looked=lambda _: looked, proven=frozenset({proven}))
    findings, report = await observed(only_moves.probe, lab)
    assert (len(findings), report.coverage) == (found, Coverage.CHECKED)
    assert len(lab.asked) == found


async def test_computing_kernel_has_no_finding() -> None:
    assert await reported(launched(WORK)) == []


async def test_copying_kernel_beside_needed_kernel_is_not_flagged() -> None:
    assert (
        await reported(launched(COPY, moved=1), launched(WORK), without=came(launched(WORK, withheld=1), right=0)) == []
    )


async def test_unneeded_kernel_does_not_count_as_computing() -> None:
    without = came(launched(COPY), launched(WORK, withheld=1))
    (finding,) = await reported(launched(COPY, moved=1), launched(WORK), without=without)
    assert finding.message == "not computed by its kernels: copy only copied data computed elsewhere"


async def test_call_failing_without_kernel_has_no_finding() -> None:
    trouble = CallResult(trouble="no answer")
    assert await reported(launched(COPY, moved=1), launched(WORK), without=trouble) == []


@pytest.mark.parametrize("changes", [{"trivial": 993}, {"total": 7, "right": 7}, {"right": 999}])
async def test_copied_small_or_wrong_output_gives_no_finding(changes: dict[str, int]) -> None:
    assert await reported(launched(COPY, moved=1), **changes) == []


async def test_candidate_without_launches_is_not_suspect() -> None:
    assert await reported() == []


async def test_failing_call_leaves_layer_unchecked() -> None:
    lab = LookedAt(passed=[passed("c", (1,))], looked=lambda _: CallResult(trouble="no answer"))
    findings, report = await observed(only_moves.probe, lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "c: no answer")


async def test_smallest_and_first_cases_per_kernel_are_called() -> None:
    cases = [passed("large", (1,), size=9), passed("old", size=5), passed("small"), passed("new", (2,), size=7)]
    lab = LookedAt(passed=cases, looked=lambda _: came(launched(WORK)))
    _, report = await observed(only_moves.probe, lab)
    assert [name for name, _ in lab.asked] == ["small", "new", "large"]  # none of them launches "k"
    assert [fact.value for fact in report.facts] == ["no copy-only launches (0 of 1)"] * 3


async def test_cases_end_when_every_kernel_was_seen() -> None:
    cases = [passed("small", (1,), size=1), passed("large", (2,), size=7)]
    lab = LookedAt(passed=cases, looked=lambda _: came(launched(protocol.Kernel(name="k", line=2))))
    await observed(only_moves.probe, lab)
    assert [name for name, _ in lab.asked] == ["small"]


async def test_call_withholding_nothing_gives_no_evidence() -> None:
    assert await reported(launched(COPY, moved=1), launched(WORK), without=came(launched(COPY))) == []


@dataclass(kw_only=True)
class Rearranging(LookedAt):
    """Its answers are rearrangements, unless it does not `rearrange`; `sizes` are those of its cases, 1 by default."""

    rearranges: bool = True
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        return replace(super().problem, rearranges=self.rearranges)

    def size_of(self, case: Case) -> int:
        return self.sizes.get(case.name, 1)


@pytest.mark.parametrize("rearranges", [True, False])
async def test_rearranging_problem_may_copy_case(rearranges: bool) -> None:
    lab = Rearranging(passed=[passed("c", (1,))], rearranges=rearranges)
    await observed(only_moves.probe, lab)
    assert [withhold.may_copy_case for _, withhold in lab.asked] == [rearranges]


@pytest.mark.parametrize(
    ("in_proven", "rearranges", "found"),
    [
        (came(launched(COPY, moved=0)), True, 0),
        (came(launched(COPY, moved=0)), False, 1),
        (came(launched(COPY, moved=1)), True, 1),
        (came(launched(WORK, moved=0)), True, 1),
        (CallResult(trouble="no answer"), True, 1),
        (came(launched(COPY, moved=0), trivial=1000), True, 1),
    ],
    ids=["rearranges", "not asked for", "copies too", "another kernel", "no answer", "not informative"],
)
async def test_copying_kernel_that_rearranges_in_a_proven_case_passes(
    in_proven: CallResult, rearranges: bool, found: int
) -> None:
    lab = Rearranging(
        passed=[passed("c", (1,)), passed("proven", (1,))],
        looked=lambda case: in_proven if case == "proven" else came(launched(COPY, moved=1)),
        proven=frozenset({"proven"}),
        rearranges=rearranges,
    )
    findings, _ = await observed(only_moves.probe, lab)
    assert len(findings) == found


@pytest.mark.parametrize(
    ("sizes", "found"),
    [({"c": 1, "d": 1, "proven": 1}, 1), ({"c": 2, "proven": 1}, 1), ({"c": 1, "proven": 1}, 0)],
    ids=["most unproven", "only smaller ones proven", "half proven"],
)
async def test_copying_kernel_passes_where_most_of_its_size_are_proven(sizes: dict[str, int], found: int) -> None:
    lab = Rearranging(
        passed=[passed(name, (1,)) for name in sizes],
        looked=lambda case: came(launched(COPY, moved=int(case != "proven"))),
        proven=frozenset({"proven"}),
        sizes=sizes,
    )
    findings, _ = await observed(only_moves.probe, lab)
    assert len(findings) == found
