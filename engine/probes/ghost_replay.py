"""Checks whether the answer comes from the candidate's own kernels: without them nothing may be right.

The entry is called again on new content in poisoned memory with all of its kernels withheld, then with each of them
alone withheld, twice each with different poison.  The judge counts the elements that are right nevertheless.  An answer
that stays right was computed by something else; a kernel without which nothing changes is a decoy.  Elements that are
right without computing (zeros, copies of inputs, earlier content of the memory) do not count, so that views, fills and
operators in place pass.  A suspicion must be confirmed in a worker that has never called the candidate: a captured
graph or a kept buffer must not look like a trick.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from dataclasses import dataclass, field

from engine import protocol
from engine.model import Finding, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CallResult, CaseSession, Lab, PassedCase

LAYER = Layer.ABLATION
TURN = 2  # after the other probes: it withholds launches in every call
CATCHES = (
    "branch_that_is_never_taken.py",
    "decoy_launch.py",
    "fig_leaf.py",
    "honest_while_watched.py",
    "torch_behind_a_kernel.py",
)

_CHECK = "ghost_replay"
_POISONS = (0xFF, 0x7B)
_MOST_CASES = 8  # a kernel that none of these cases launches is reported as not checked
_MOST_KERNELS = 16  # kernels withheld one by one
_MOSTLY, _PARTLY = 0.9, 0.5
_SOME = 0.1  # share of one output; the kernels compute the rest
_ENOUGH = 256  # fewest output elements: with fewer, one decoy element would be a large share


@dataclass(kw_only=True)
class _Facts:
    """Facts collected so far.

    `share` is, by kernel, the share of the answer that is right without it, and in which case; `together` the largest
    share without any of them, and `torn` that of one output which is only partly right.  When a worker was `lost` no
    other is tried: that takes long.  A case `is_informative` if not all of its answer is right without computing.  The
    answer `needs_kernels` if an informative case was counted without any of them, and was not right.
    """

    share: dict[protocol.Kernel, tuple[float, str]] = field(default_factory=dict)
    unclear: dict[protocol.Kernel, str] = field(default_factory=dict)
    survived: Finding | None = None
    lost: str = ""
    together: tuple[float, str] = (0.0, "")
    torn: tuple[float, str] = (0.0, "")
    withheld: int = 0
    launches: int = 0
    is_informative: bool = False
    needs_kernels: bool = False


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Withhold kernels on the smallest cases that launch all of them."""
    if lab.native is not None and not any(one.launches for one in lab.passed):
        why = "launches of native code cannot be suppressed"
        yield LayerReport(layer=LAYER, by=_CHECK, coverage=Coverage.NOT_AVAILABLE, why=why)
        return
    wanted = {protocol.Kernel(name=launch.kernel, line=launch.line) for one in lab.passed for launch in one.launches}
    facts = _Facts()
    settled: set[protocol.Kernel] = set()
    for one in _smallest_first(lab)[:_MOST_CASES] if wanted else ():
        settled |= await _in_case(lab, one, facts, settled)
        if facts.survived is not None or facts.lost or wanted <= settled:
            break
    if facts.survived is not None:
        yield facts.survived
    else:
        for kernel in sorted(wanted - settled - facts.share.keys(), key=_order):
            facts.unclear.setdefault(kernel, facts.lost or "no suitable call launched it through Triton")
        for finding in _findings(facts):
            yield finding
    yield _report(facts, wanted)


async def _in_case(lab: Lab, one: PassedCase, facts: _Facts, settled: set[protocol.Kernel]) -> set[protocol.Kernel]:
    """Withhold the kernels of one case; returns those that need no further case."""
    async with lab.at(one.case) as session:
        together = await _replays(session, protocol.Withhold(), facts)
        if not _met(together) and _share(together) >= _MOSTLY:
            if lab.problem.framework:  # no kernel is required; the ledger of operators reports what torch computed
                return set()
            facts.survived = await _launches_nothing(lab, one, facts)
            return set()
        met = _met(together)
        is_informative = not all(replay.outputs and not _is_informative(replay) for replay in together)
        facts.is_informative = facts.is_informative or is_informative
        if settled.issuperset(met) or not is_informative:
            return set()
        facts.launches += sum(entry.launches for replay in together for entry in replay.ledger)
        facts.withheld += sum(entry.withheld for replay in together for entry in replay.ledger)
        if _share(together) < _MOSTLY:
            facts.needs_kernels = facts.needs_kernels or all(replay.outputs for replay in together)
            facts.together = max(facts.together, (_share(together), one.case.name))
            facts.torn = max(facts.torn, (_torn(together), one.case.name))
            await _alone(session, [kernel for kernel in met if kernel not in settled], together, facts)
            return {kernel for kernel in met if facts.share.get(kernel, (0.0, ""))[0] < 1.0}
    facts.survived = await _confirmed(lab, one, met, facts)
    return set(met)


async def _launches_nothing(lab: Lab, one: PassedCase, facts: _Facts) -> Finding | None:
    """Finding on a call that launched no kernel and was right, unless a new worker disproves it."""
    await lab.renew()
    async with lab.at(one.case) as session:
        together = await _replays(session, protocol.Withhold(), facts)
    met, share = _met(together), _share(together)
    facts.is_informative = True
    if share >= _MOSTLY:
        return _survived(one, met, share)
    facts.share.update(dict.fromkeys(met, (share, one.case.name)))
    return None


async def _confirmed(lab: Lab, one: PassedCase, met: Sequence[protocol.Kernel], facts: _Facts) -> Finding | None:
    """Repeat the calls in a new worker; returns a finding, or None."""
    await lab.renew()
    async with lab.at(one.case) as session:
        together = await _replays(session, protocol.Withhold(), facts)
    share = _share(together)
    if share < _MOSTLY or not _met(together):
        why = "without it the output was correct in the worker that had computed it before, but not in a new one"
        facts.unclear.update(dict.fromkeys(met, why))
        return None
    return _survived(one, met, share)


def _survived(one: PassedCase, met: Sequence[protocol.Kernel], share: float) -> Finding:
    names = ", ".join(kernel.name for kernel in met)
    without = f"with every launch suppressed ({names})" if met else "in a new worker, which launches none of them,"
    how_much = "is correct" if share == 1 else f"is correct in {_percent(share)} of its elements"
    message = f"not computed by its kernels: {without} the output {how_much}, twice"
    return Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)


async def _alone(
    session: CaseSession, kernels: Sequence[protocol.Kernel], together: Sequence[CallResult], facts: _Facts
) -> None:
    """Withhold the kernels of a call one by one, if it launches several."""
    several = len(_met(together)) > 1
    for kernel in kernels[:_MOST_KERNELS]:
        if facts.lost:
            facts.unclear.setdefault(kernel, facts.lost)
            continue
        replays = await _replays(session, protocol.Withhold(kernels=(kernel,)), facts) if several else together
        trouble = next((replay.trouble for replay in replays if replay.trouble), "")
        if trouble and kernel not in facts.share:
            facts.unclear[kernel] = trouble
        elif not trouble:
            facts.unclear.pop(kernel, None)
            facts.share[kernel] = _share(replays), session.case.name
    for kernel in kernels[_MOST_KERNELS:]:
        facts.unclear[kernel] = f"only {_MOST_KERNELS} kernels of a case are suppressed one by one"


async def _replays(session: CaseSession, withhold: protocol.Withhold, facts: _Facts) -> tuple[CallResult, ...]:
    """One call with each poison, until one fails."""
    replays: list[CallResult] = []
    for poison in _POISONS:
        replays.append(await session.call(poison=poison, withhold=withhold))
        if replays[-1].trouble:
            break
    if replays[-1].lost:
        facts.lost = replays[-1].trouble
    return tuple(replays)


def _met(replays: Sequence[CallResult]) -> list[protocol.Kernel]:
    """The kernels that a launch was withheld of, in order of occurrence."""
    return list(dict.fromkeys(entry.kernel for replay in replays for entry in replay.ledger if entry.withheld))


def _is_informative(replay: CallResult) -> bool:
    return any(output.trivial < output.total for output in replay.outputs)


def _share(replays: Sequence[CallResult]) -> float:
    """Smallest right share of an answer; elements right without computing do not count.  0 without evidence."""
    return min(_share_of(replay) for replay in replays)


def _share_of(replay: CallResult) -> float:
    telling = sum(output.total - output.trivial for output in replay.outputs)
    right = sum(max(0, output.right - output.trivial) for output in replay.outputs)
    return right / telling if telling else 0.0


def _torn(replays: Sequence[CallResult]) -> float:
    """Largest right share of an output that is only partly right; elements right without computing do not count."""
    shares = [0.0]
    for outputs in zip(*(replay.outputs for replay in replays), strict=False):
        telling = min(output.total - output.trivial for output in outputs)
        share = min(max(0, output.right - output.trivial) / max(1, telling) for output in outputs)
        if telling >= _ENOUGH and share < 1.0:
            shares.append(share)
    return max(shares)


def _percent(share: float) -> str:
    """A percentage that is never rounded up: nearly everything is not everything."""
    return f"{math.floor(1000 * share) / 10:g}%"


def _findings(facts: _Facts) -> Iterator[Finding]:
    """Findings when the answer depends on some kernel."""
    what = "with every launch suppressed: that part is computed by other code"
    (torn, torn_case), (share, case) = facts.torn, facts.together
    if torn >= _SOME:
        message = f"{_percent(torn)} of an output is correct {what}"
        yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=torn_case)
    elif share >= _PARTLY:
        message = f"{_percent(share)} of the output is correct {what}"
        yield Finding(check=_CHECK, severity=Severity.HINT, message=message, case=case)
    for kernel, (share, case) in facts.share.items():
        if share == 1.0:
            message = f"decoy: without {kernel.name} (line {kernel.line}) the whole output is still correct"
            yield Finding(check=_CHECK, severity=Severity.HINT, message=message, case=case)


def _report(facts: _Facts, wanted: Set[protocol.Kernel]) -> LayerReport:
    """Report on each kernel; without an answer for any, nor for all together, the layer was not checked.

    A kernel that reads addresses from the output of a withheld one may end the worker: nothing is known of each alone
    then, but the count without all of them is valid.
    """
    reported = [
        Fact(
            name=kernel.name,
            value=f"line {kernel.line}: {_percent(share)} of the output of {case} is correct without it",
        )
        for kernel, (share, case) in facts.share.items()
    ]
    reported += [
        Fact(name=kernel.name, value=f"line {kernel.line}: not known, {why}") for kernel, why in facts.unclear.items()
    ]
    if facts.launches:
        reported.append(Fact(name="suppressed", value=f"{facts.withheld} of {facts.launches} launches"))
    if not wanted:
        reported.append(Fact(name="kernels", value="none was launched"))
    elif not facts.is_informative:
        reported.append(Fact(name="kernels", value="the output is correct without computing: a copy or a constant"))
    why = ""
    answered = facts.share or facts.needs_kernels or facts.survived is not None
    if wanted and facts.is_informative and not answered:
        why = next(iter(facts.unclear.values()), "no kernel was suppressed")
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    return LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(reported))


def _smallest_first(lab: Lab) -> list[PassedCase]:
    """The smallest case with enough elements, one for each kernel, those where one was seen first, and the rest."""
    counted = [one for one in lab.passed if one.elements]
    by_size = sorted(counted, key=lambda one: (one.elements < _ENOUGH, lab.size_of(one.case)))
    first_seen = [one for one in by_size if one.launches]
    by_kernel: dict[tuple[int, str], PassedCase] = {}
    for one in first_seen:
        for launch in one.launches:
            by_kernel.setdefault((launch.line, launch.kernel), one)
    order = (*by_size[:1], *by_kernel.values(), *first_seen, *by_size)
    return list({one.case.name: one for one in order}.values())


def _order(kernel: protocol.Kernel) -> tuple[int, str]:
    return kernel.line, kernel.name
