"""Checks whether any of its kernels compute: the tensors of each launch are compared before and after it.

A last kernel that copies the output makes the output depend on it, even if torch computed it in small parts, Python
computed it on numbers, or unobserved code did.  A kernel that only moves its input does not count as computing, and
neither does a kernel without which the output is right.  An output that is right without computing, a copy or one
value, gives no evidence.  An honest kernel may only move data beside one that computes, or alone if the operator may be
left to the framework or if it copies its arguments instead of arithmetic.  Proven cases are left out: their kernels
give the answer, even if they only move data, as from a number that the host read.  A kernel that rearranges elements
may only copy in a few cases, as a window of one pixel does: there a proven case shows that it does more, unless most
cases or all of that size are unproven, which something else may have computed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from engine import protocol
from engine.model import Finding, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CallResult, CaseSession, Lab, PassedCase
from engine.probes.lab.repeat_calls import smallest_first

LAYER = Layer.ABLATION
TURN = 1  # after probes that do not withhold: it withholds on suspicion
CATCHES = (
    "copied_then_summed.py",
    "copies_beside_a_decoy.py",
    "rows_by_joining.py",
    "silu_in_python.py",
)

_CHECK = "only_moves"
_POISON = 0x7B
_MOST_CASES = 3
_ENOUGH = 8  # fewest elements that are not right without computing: fewer may be a coincidence


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Examine one call of the smallest case, and of others until every kernel is covered."""
    facts: list[Fact] = []
    why = ""
    may_copy = lab.problem.rearrangement.is_certain
    unproven = [one for one in smallest_first(lab) if one.case.name not in lab.proven]
    unmet = {(launch.kernel, launch.line) for one in unproven for launch in one.launches}
    for one in _cases(unproven):
        if facts and not unmet:
            break
        async with lab.at(one.case) as session:
            looked = await session.call(poison=_POISON, withhold=protocol.Withhold(look=True, may_copy_case=may_copy))
            if looked.trouble:
                why = f"{one.case.name}: {looked.trouble}"
                break
            if not looked.ledger or not _is_informative(looked):
                continue
            unmet -= {(entry.kernel.name, entry.kernel.line) for entry in looked.ledger}
            moved = sum(entry.moved for entry in looked.ledger)
            launches = sum(entry.launches for entry in looked.ledger)
            value = (
                f"{moved} of {launches} launches only copied" if moved else f"no copy-only launches (0 of {launches})"
            )
            facts.append(Fact(name=one.case.name, value=value))
            suspected = not lab.problem.framework and await _none_computes(session, looked)
        if suspected and not (may_copy and await _rearranges_elsewhere(lab, one, looked)):
            yield _finding(one, looked)
            break
    if lab.is_proven:
        facts.append(Fact(name="launches", value="not compared: every case is proven"))
    elif not facts and not why:
        facts.append(Fact(name="launches", value="none in a suitable case"))
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    yield LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(facts))


async def _rearranges_elsewhere(lab: Lab, one: PassedCase, looked: CallResult) -> bool:
    """Whether a kernel that only copied in a case does more in the smallest suitable proven one.

    Half of the cases have to be proven, and one that is as large: else other code may compute above a size.
    """
    proven_sizes = [lab.size_of(each.case) for each in lab.passed if each.case.name in lab.proven]
    if 2 * len(proven_sizes) < len(lab.passed) or max(proven_sizes, default=0) < lab.size_of(one.case):
        return False
    copying = {entry.kernel for entry in looked.ledger if entry.moved}
    for each in _cases([each for each in smallest_first(lab) if each.case.name in lab.proven]):
        async with lab.at(each.case) as session:
            proven = await session.call(poison=_POISON, withhold=protocol.Withhold(look=True, may_copy_case=True))
        if not proven.trouble and _is_informative(proven):
            return any(entry.kernel in copying and entry.moved < entry.launches for entry in proven.ledger)
    return False


async def _none_computes(session: CaseSession, looked: CallResult) -> bool:
    """Whether every kernel only moves data, or is one without which the answer is right."""
    if not any(entry.moved for entry in looked.ledger):
        return False
    computing = tuple(entry.kernel for entry in looked.ledger if entry.moved < entry.launches)
    if not computing:
        return True
    without = await session.call(poison=_POISON, withhold=protocol.Withhold(kernels=computing))
    return not without.trouble and _is_right(without) and any(entry.withheld for entry in without.ledger)


def _finding(one: PassedCase, looked: CallResult) -> Finding:
    names = ", ".join(entry.kernel.name for entry in looked.ledger if entry.moved)
    message = f"not computed by its kernels: {names} only copied data computed elsewhere"
    return Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)


def _is_informative(looked: CallResult) -> bool:
    """Whether the call was right in more elements than those that are right without computing."""
    telling = sum(output.total - output.trivial for output in looked.outputs)
    return telling >= _ENOUGH and _is_right(looked)


def _is_right(replay: CallResult) -> bool:
    return all(output.right == output.total for output in replay.outputs)


def _cases(unproven: Sequence[PassedCase]) -> Sequence[PassedCase]:
    counted = [one for one in unproven if one.elements >= _ENOUGH]
    first_seen = [one for one in counted if one.launches]
    return list({one.case.name: one for one in (*counted[:1], *first_seen)}.values())[:_MOST_CASES]
