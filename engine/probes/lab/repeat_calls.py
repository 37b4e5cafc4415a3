"""Calls of probes whose outputs are compared, read again, or measured for precision.

A failing candidate is reported as trouble, a sentence; only a failing judge raises an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine import protocol
from engine.errors import EngineError
from engine.probes.lab.case_session import CallContent, CallResult, CaseSession, Lab, PassedCase
from engine.processes.judge_requests import reason_in

_ENOUGH = 256  # fewest elements: a race or a late write affects few of them
_MOST_TIMES = 16  # largest work of a further case, relative to the small one


@dataclass(frozen=True, kw_only=True)
class OutputReading:
    """The outputs of a call at one time, compared, or the trouble; `silent` is as in `CallResult`.

    `reordered` is the worker's claim of how many launches ran their programs in another order.
    """

    outputs: tuple[protocol.Difference, ...] = ()
    reordered: int = 0
    trouble: str = ""
    silent: bool = False

    @property
    def wrong(self) -> str:
        """Number of wrong elements by output, in words; "" when all are right."""
        return _counted([(output.name, output.total - output.right, output.total) for output in self.outputs], "wrong")

    @property
    def changed(self) -> str:
        """Number of elements by output whose bits differ from the kept ones, in words; "" if there are none."""
        return _counted([(output.name, output.changed or 0, output.total) for output in self.outputs], "changed")


async def watched(
    session: CaseSession, *, poison: int, fresh: bool, keep: bool, program_order: protocol.ProgramOrder | None = None
) -> OutputReading:
    """Make a call and compare its outputs with the expected ones, and with those that were kept.

    Raises:
        EngineError: the judge failed.
    """
    called = await session.make(
        poison=poison, content=CallContent(fresh=fresh), program_order=program_order, watch=watch_of(session)
    )
    if isinstance(called, CallResult):
        return OutputReading(trouble=called.trouble, silent=called.silent)
    return await _compared(session, called.returned, keep=keep, reordered=called.reordered)


def watch_of(session: CaseSession) -> protocol.Watch:
    """Outputs that a watched call returns: those of the problem, and no others that an entry may return."""
    return protocol.Watch(positions=_written(session), returns=session.lab.problem.returns != 0)


async def repeated_outputs(session: CaseSession, *, pause_s: float) -> OutputReading:
    """Compare the outputs of the last watched call once more, after a pause.

    Raises:
        EngineError: the judge failed.
    """
    try:
        reply = await session.lab.ask(protocol.RepeatOutputs(id=protocol.new_id(), pause_s=pause_s))
    except EngineError as error:
        return OutputReading(trouble=str(error))
    if isinstance(reply, protocol.Failed):
        return OutputReading(trouble=reply.message)
    if not isinstance(reply, protocol.OutputsRepeated):
        return OutputReading(trouble=f"a second reading of the outputs was answered with {type(reply).__name__}")
    return await _compared(session, reply.returned, keep=False)


async def measured_precision(session: CaseSession, *, poison: int) -> tuple[protocol.OutputPrecision, ...] | str:
    """Make a call on new content and measure its precision; else the trouble in words.

    Raises:
        EngineError: the judge failed.
    """
    called = await session.make(poison=poison)
    if isinstance(called, CallResult):
        return called.trouble
    measure_precision = protocol.MeasurePrecision(
        id=protocol.new_id(),
        outputs=str(session.outputs),
        max_output_bytes=session.lab.limits.output_bytes,
        returned=called.returned,
        place=session.lab.place,
    )
    reply = await session.lab.process_pool.ask_judge(measure_precision)
    if isinstance(reply, protocol.PrecisionMeasured):
        return reply.outputs
    return _trouble(session, reply, "measure the precision of")


def smallest_first(lab: Lab) -> list[PassedCase]:
    """The cases with outputs by their size; those with few elements last, for they show little."""
    counted = [one for one in lab.passed if one.elements]
    return sorted(counted, key=lambda one: (one.elements < _ENOUGH, lab.size_of(one.case)))


def one_larger(lab: Lab, cases: Sequence[PassedCase], *, than: PassedCase) -> PassedCase | None:
    """The largest of these cases with at most a limited multiple of the work of another; None without."""
    most = _MOST_TIMES * lab.size_of(than.case)
    near = [one for one in cases if one is not than and lab.size_of(one.case) <= most]
    return max(reversed(near), key=lambda one: lab.size_of(one.case), default=None)


async def _compared(
    session: CaseSession, returned: tuple[protocol.ReturnedSpec, ...], *, keep: bool, reordered: int = 0
) -> OutputReading:
    compare_reading = protocol.CompareReading(
        id=protocol.new_id(),
        outputs=str(session.outputs),
        max_output_bytes=session.lab.limits.output_bytes,
        returned=returned,
        keep=keep,
        place=session.lab.place,
    )
    reply = await session.lab.process_pool.ask_judge(compare_reading)
    if isinstance(reply, protocol.ReadingCompared):
        return OutputReading(outputs=reply.outputs, reordered=reordered)
    return OutputReading(trouble=_trouble(session, reply, "compare"))


def _trouble(session: CaseSession, reply: protocol.AnyReply, action: str) -> str:
    """Error in the bytes that the worker returned.

    Raises:
        EngineError: the judge failed.
    """
    if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.TAMPERED:
        return reply.message
    raise EngineError(f"the judge could not {action} the outputs of {session.case.name}{reason_in(reply)}")


def _written(session: CaseSession) -> tuple[int, ...]:
    """The positions of the arguments that are written in this case, in the order of the outputs."""
    problem, specs = session.lab.problem, session.prepared.arguments
    positions = (problem.arguments.index(name) for name in problem.mutates)
    return tuple(position for position in positions if not isinstance(specs[position], protocol.ScalarSpec))


def _counted(counts: Sequence[tuple[str, int, int]], word: str) -> str:
    return ", ".join(f"{count:,} of {total:,} elements of {name} are {word}" for name, count, total in counts if count)
