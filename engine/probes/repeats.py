"""Checks whether the answer is right again, in any order of the programs: a few cases are called several times.

No order is guaranteed for the programs of a grid.  On the CPU they also run backwards and shuffled, and one more call
reports which two of them conflict, and at which lines.  On a device the calls are repeated beside other work.  The last
call is on new content, against candidates that count calls.  Other bits within tolerance are due to the order of a sum
and not a finding.  A call in another order that never ends is not a finding either: a kernel whose programs wait for
those before them has no race, and is then only called again in the default order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from engine import protocol
from engine.model import Finding, Location, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CallContent, CaseSession, Lab, PassedCase
from engine.probes.lab.repeat_calls import OutputReading, one_larger, smallest_first, watched
from engine.probes.lab.sizes import is_large

LAYER = Layer.INPUTS
CATCHES = ("right_three_times.py",)

_CHECK = "repeats"
_POISONS = (0xFF, 0x7B)
_REPEATS, _REPEATS_OF_LARGE = 8, 2  # repeats on a device
_MOST_CASES = 4
_MOST_IDLE = 6
_CALLS_PER_CASE = 7  # verified calls that allow one larger case, since the verdict waits for the probe


@dataclass(kw_only=True)
class _Facts:
    """Facts collected so far.

    `reordered` counts the launches that ran in another order, `idle` the cases without outputs, for which no order can
    be wrong; `waited` is the case in which a call never ended, and `why` any other reason for a missing check.
    """

    calls: int = 0
    idle: int = 0
    reordered: int = 0
    varied: list[Fact] = field(default_factory=list)
    found: bool = False
    waited: str = ""
    why: str = ""


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Call the smallest cases again that together spread each kernel along each axis of its grid, and a larger one."""
    facts = _Facts(why="" if lab.passed else "no case passed")
    cases, left_out = _cases(lab)
    others = [one for one in smallest_first(lab) if one not in cases]
    while cases:
        one = cases.pop(0)
        had_waited, had_idled = facts.waited, facts.idle
        found = await _in_case(lab, one, facts)
        if facts.waited != had_waited:
            found = await _in_case(lab, one, facts)
        if facts.idle != had_idled and others and facts.idle <= _MOST_IDLE:
            cases.insert(0, others.pop(0))
        if found is not None:
            facts.found = True
            yield found
        if found is not None or facts.why:
            break
    yield _report(lab, facts, left_out)


async def _in_case(lab: Lab, one: PassedCase, facts: _Facts) -> Finding | None:
    """The same content again, in other orders unless a kernel waits, and at last new content."""
    async with lab.at(one.case) as session:
        if session.prepared.idle:
            facts.idle += 1
            return None
        first = await _call(session, facts, keep=True)
        if first.trouble or first.wrong:
            return _found(session, first, "correct when verified, wrong in a later call")
        for program_order in () if facts.waited else _program_orders(lab, one):
            again = await _call(session, facts, program_order=program_order)
            facts.reordered += again.reordered
            if again.trouble:
                return None
            if again.wrong:
                return _race_found(session, again, program_order, await _race_of(session, program_order))
            if again.changed:
                value = f"{again.changed}, all within tolerance, in another call on the same input"
                facts.varied.append(Fact(name=one.case.name, value=value))
            # A launch of one program has no order. A candidate that falsely reports one program gains nothing by it.
            if lab.process_pool.interpreted and not again.reordered:
                break
        last = await _call(session, facts, fresh=True)
        return _found(session, last, f"correct in the first calls, wrong on new content after {facts.calls - 1} more")


async def _call(
    session: CaseSession,
    facts: _Facts,
    *,
    fresh: bool = False,
    keep: bool = False,
    program_order: protocol.ProgramOrder | None = None,
) -> OutputReading:
    poison = _POISONS[facts.calls % len(_POISONS)]
    reading = await watched(session, poison=poison, fresh=fresh, keep=keep, program_order=program_order)
    facts.calls += 1
    if reading.trouble:
        is_reordered = program_order is not None and session.lab.process_pool.interpreted
        if is_reordered and reading.silent:
            facts.waited = session.case.name
        else:
            order = " in another order of its programs" if is_reordered else ""
            facts.why = f"called again{order} in {session.case.name}: {reading.trouble}"
    return reading


def _found(session: CaseSession, reading: OutputReading, what: str) -> Finding | None:
    if reading.trouble or not reading.wrong:
        return None
    message = f"{what}: {reading.wrong}"
    return Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=session.case.name)


async def _race_of(session: CaseSession, program_order: protocol.ProgramOrder) -> protocol.Race | None:
    """Conflict of two programs by the worker's report; None without one.

    Raises:
        EngineError: the judge failed.
    """
    if not session.lab.process_pool.interpreted:
        return None
    witnessed = msgspec.structs.replace(program_order, witness=True)
    called = await session.make(poison=_POISONS[0], content=CallContent(fresh=False), program_order=witnessed)
    return called.race if isinstance(called, protocol.Called) else None


def _race_found(
    session: CaseSession, reading: OutputReading, program_order: protocol.ProgramOrder, race: protocol.Race | None
) -> Finding | None:
    found = _found(session, reading, _race(session.lab, program_order))
    line = race and (race.second.line if race.second.stores else race.first.line)
    if found is None or race is None or not line:
        return found
    return replace(found, location=Location(line=line), message=f"{found.message}; {_met(race)}")


def _met(race: protocol.Race) -> str:
    """Accesses of two programs to one element: "program (1, 0, 0) of k stores out[3] at line 7, where ..."."""
    first, second = race.first, race.second
    element = f"{race.tensor}[{race.index}]"
    another = "another value there" if first.stores and second.stores else "it"
    return (
        f"in {race.kernel} program {first.program} {_does(first)} {element}{_at(first)}, "
        f"and program {second.program} {_does(second)} {another}{_at(second)}"
    )


def _does(access: protocol.Access) -> str:
    return "stores" if access.stores else "loads"


def _at(access: protocol.Access) -> str:
    return f" at line {access.line}" if access.line is not None else ""


def _race(lab: Lab, program_order: protocol.ProgramOrder) -> str:
    if not lab.process_pool.interpreted:
        return "race: the output for the same input is correct alone and wrong with concurrent work"
    order = "backwards" if program_order.seed is None else "in random order"
    return f"race: correct in one order only; wrong with the programs of each grid run {order}"


def _program_orders(lab: Lab, one: PassedCase) -> Iterator[protocol.ProgramOrder]:
    repeats = _REPEATS_OF_LARGE if is_large(lab.problem, one.case) else _REPEATS
    if lab.process_pool.interpreted:
        yield protocol.ProgramOrder()
        repeats = 1
    for _ in range(repeats):
        yield protocol.ProgramOrder(seed=lab.draws.number("program order", bits=31))


def _cases(lab: Lab) -> tuple[list[PassedCase], list[PassedCase]]:
    """First cases that distribute work along an axis, with a larger one; and those left out."""
    by_size = smallest_first(lab)
    met: set[tuple[str, int, int]] = set()
    chosen: list[PassedCase] = []
    for one in by_size:
        spread = {
            (launch.kernel, launch.line, axis)
            for launch in one.launches
            for axis, programs in enumerate(launch.grid)
            if programs > 1
        }
        if not spread <= met:
            met |= spread
            chosen.append(one)
    chosen = (chosen or by_size[:1])[:_MOST_CASES]
    # A larger case may have several programs for one row, which a small one has not.
    larger = one_larger(lab, by_size, than=chosen[0]) if chosen else None
    is_news = larger is not None and lab.size_of(larger.case) > max(lab.size_of(one.case) for one in chosen)
    if larger is None or not is_news:
        return chosen, []
    if sum(one.result.calls for one in lab.passed) < _CALLS_PER_CASE * (1 + len(chosen)):
        return chosen, [larger]
    return [*chosen, larger], []


def _report(lab: Lab, facts: _Facts, left_out: Sequence[PassedCase]) -> LayerReport:
    reported = [Fact(name="calls", value=f"{facts.calls} more, on the same input and finally on new input")]
    if facts.waited:
        why = f"a call of {facts.waited} in another order did not end: its programs appear to wait for each other"
        reported.append(Fact(name="order", value=f"inconclusive: {why}"))
    elif facts.reordered:
        launches = "1 launch with its" if facts.reordered == 1 else f"{facts.reordered:,} launches with their"
        reported.append(Fact(name="order", value=f"{launches} programs in another order"))
    elif lab.process_pool.interpreted and not facts.why:
        reported.append(Fact(name="order", value="no launch has programs whose order can change"))
    reported += [Fact(name="left out", value=f"{one.case.name}: only a few calls were verified") for one in left_out]
    reported += facts.varied
    if not (facts.varied or facts.found or facts.why):
        reported.append(Fact(name="bits", value="identical in every call on the same input"))
    coverage = Coverage.NOT_CHECKED if facts.why else Coverage.CHECKED
    return LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=facts.why, facts=tuple(reported))
