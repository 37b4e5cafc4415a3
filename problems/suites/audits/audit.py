"""The audit of a task: wrong answers that its calibrated tolerance accepts for its reference and inputs.

Runs in the judge; the task's own code runs in the reference process only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.errors import ReferenceFaultError
from engine.model import CalledCase, Case
from engine.model.problems.health import Defect, Weakness
from engine.problem_source import ProblemDescription, ReferenceClient, ReferenceUnavailableError
from problems.rules import lies
from problems.rules.health import foreign_weaknesses
from problems.rules.trial import OTHER_SEED, Trial
from problems.rules.values import same_values
from problems.suites.audits.cases import audited_cases
from problems.suites.audits.short_cuts import NO_TENSORS_OF_CALL, short_cuts
from problems.suites.calibration import RandomReferenceError
from problems.suites.definition import attached
from problems.suites.plan import PlannedTask

# Defects that imply that no input influences the answer.
_WITHOUT_ANSWER = frozenset((Defect.ALL_ZERO, Defect.CONSTANT, Defect.INPUT_INDEPENDENT))


def audit(planned: PlannedTask, described: ProblemDescription, reference: ReferenceClient) -> tuple[Weakness, ...]:
    """Every defect of a task; only one if its reference fails or is random.

    Raises:
        UnsupportedError: it cannot be run on this machine; the message has its requirements.
        MachineBusyError: the reference process got hardly any CPU time.
    """
    try:
        problem = attached(planned, reference).definition
        trial = Trial(replace(problem, cases=audited_cases(problem)), described)
        found = tuple(_of_inputs(trial, foreign_weaknesses(trial)))
        has_answer = _WITHOUT_ANSWER.isdisjoint(one.defect for one in found)
        return (*found, *(short_cuts(trial) if has_answer else ()), *_own_rule(trial))
    except RandomReferenceError as error:
        return (Weakness(defect=Defect.UNSEEDED, text=str(error)),)
    except (ReferenceFaultError, ReferenceUnavailableError) as error:
        return (Weakness(defect=Defect.REFERENCE_FAILS, text=str(error)),)


def _of_inputs(trial: Trial, found: Iterable[Weakness]) -> Iterator[Weakness]:
    """The weaknesses; if every draw has the same inputs, that is added as the cause of an input-independent answer."""
    for one in found:
        is_stored = one.defect is Defect.INPUT_INDEPENDENT and all(_is_fixed(trial, case) for case in trial.cases)
        text = "every draw has the same inputs, so a stored answer passes in every case"
        yield replace(one, text=text) if is_stored else one


def _is_fixed(trial: Trial, case: Case) -> bool:
    """Whether two seeds give the same inputs and weights."""
    pairs = zip(trial.problem.arguments, trial.given(case), trial.given(case, OTHER_SEED), strict=True)
    return all(same_values(one, other) for name, one, other in pairs if name not in NO_TENSORS_OF_CALL)


def _own_rule(trial: Trial) -> Iterator[Weakness]:
    """Weaknesses of the suite's own rule, which has no influence on verdicts."""
    if _passes_everywhere(trial, lies.zeros) is True:
        yield Weakness(defect=Defect.LOOSE_OWN_RULE, text="zeros pass the suite's own rule in every case")
    if _passes_everywhere(trial, lambda trial, case: trial.answers(case)) is False:
        text = "the task's own answer does not pass the suite's own rule in any case"
        yield Weakness(defect=Defect.UNREACHABLE_OWN_RULE, text=text)


def _passes_everywhere(trial: Trial, lie: lies.Lie) -> bool | None:
    """True if these outputs pass the suite's rule in every case, False if in none; None otherwise or without a rule."""
    rule = trial.problem.passes_own_rule
    said: set[bool | None] = set()
    for case in trial.cases if rule is not None else ():
        outputs = lie(trial, case)
        if rule is None or outputs is None:
            return None
        call = CalledCase(case=case, arguments=trial.given(case), outputs=outputs, expected=trial.expected(case))
        said.add(rule(call))
    return said.pop() if len(said) == 1 else None
