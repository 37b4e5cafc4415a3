"""Causes of a wrong output, as far as its values, the expected ones and the inputs show them.

Only for outputs that are wrong, after the verdict on them: nothing here can make an output right.  Time is bounded by
the size of the case, memory by a limit, and the hypothesis that fitted the case before is tried first.  All of it runs
on the host: a hypothetical index may be outside of its tensor, for which the host raises an error, while a device would
refuse all further work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from engine.judge.compare.measures import computable, raw
from engine.judge.diagnosis.error_sizes import error_clues
from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis
from engine.judge.diagnosis.hypotheses.order import hypotheses
from engine.judge.diagnosis.input_dependencies import dependencies
from engine.judge.diagnosis.operands import as_missing_nan, operand_clues
from engine.judge.diagnosis.patterns import patterns
from engine.judge.diagnosis.ranking import Clue, diagnose, names_cause, ranked
from engine.judge.diagnosis.rows import line_clues
from engine.judge.diagnosis.scale_origins import as_divisor, with_origin
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import expected_outputs, output_names, written_specs
from engine.judge.limited_memory import limited_memory
from engine.model import Diagnosis, Explanation, InputElement, Outcome, OutputReport, ProblemDefinition, WrongElement
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments

_MOST_ELEMENTS = 1 << 22  # elements of all arguments and outputs: larger cases are not recomputed
_MOST_WORK = 1 << 26  # elements times computations
_MOST_TRIALS = 200
_MOST_BYTES = 1 << 30  # of one trial: the output under a hypothesis may be too large for any memory
_MOST_FOREIGN_CALLS = 40  # calls of a reference in another process, about 20 ms each
_MOST_UNTRIED = 300  # characters
_LATER_CASE = "only the first wrong cases of a run are explained; run this case alone to have it explained"
_VALUES_ARE_WRONG = (Outcome.WRONG_VALUE, Outcome.NONFINITE)
_CERTAIN = (Symptom.POISON, Symptom.UNCHANGED, Symptom.DIFFERS)


class Explainer:
    """Explains wrong outputs; the last hypothesis that fitted is tried first on the next output."""

    def __init__(self) -> None:
        self._last: tuple[str, Symptom] | None = None

    def explained(
        self,
        prepared: cases.PreparedCase,
        got: list[torch.Tensor | OutputReport],
        reports: tuple[OutputReport, ...],
        *,
        repeated: bool | None,
    ) -> tuple[OutputReport, ...]:
        """The reports of a call, those of wrong values with possible causes.

        `repeated` is whether the outputs equal those of the first call; None if that had other input or this is the
        first.
        """
        if not prepared.problem.determinism.has_one_answer:
            return reports
        explained = list(reports)
        for number, (value, report) in enumerate(zip(got, reports, strict=True)):
            if isinstance(value, torch.Tensor) and report.outcome in _VALUES_ARE_WRONG and report.worst is not None:
                output = _wrong_output(prepared, number, value, report.name, same_input=repeated is not None)
                explained[number] = replace(
                    report, explanation=self._explanation(prepared, number, output, report.worst)
                )
        return tuple(explained)

    def diagnoses(
        self, problem: ProblemDefinition, inputs: Arguments, number: int, output: WrongOutput
    ) -> tuple[Diagnosis, ...]:
        """Diagnoses of output `number`, best first.  Empty when nothing fits."""
        clues = [
            *patterns(output),
            *error_clues(output),
            *line_clues(output, problem, inputs),
            *operand_clues(output, problem, inputs),
        ]
        if not any(self._explains_alone(problem, clue) and _is_perfect(clue, output) for clue in clues):
            clues += self._clues_of_hypotheses(problem, inputs, number, output)
        best = next(iter(ranked(clues, wrong=output.wrong_count)), None)
        if best is not None and _is_perfect(best, output):
            self._last = problem.name, best.symptom
        clues = [with_origin(clue, problem, inputs, output.got.dtype) for clue in clues]
        clues = [as_missing_nan(clue, output, problem, inputs, number=number) for clue in clues]
        return diagnose(clues, wrong=output.wrong_count)

    def _explanation(
        self, prepared: cases.PreparedCase, number: int, output: WrongOutput, worst: WrongElement
    ) -> Explanation:
        problem = prepared.problem
        elements = _elements(prepared.content.inputs, output)
        if elements > _MOST_ELEMENTS:
            return Explanation(untried=f"the case has {elements:,} elements, too many to recompute it repeatedly")
        found: tuple[Diagnosis, ...] = ()
        try:
            with torch.device("cpu"):
                inputs, output = _inputs_on_host(prepared.content), output.on_host
                found = self.diagnoses(problem, inputs, number, output)
                feeds: tuple[InputElement, ...] = ()
                count: int | None = None
                if problem.suite is None:  # another process returns no derivatives, and would need hundreds of calls
                    feeds, count = dependencies(problem, inputs, number=number, index=worst.index)
        except Exception as error:  # an error of the reference or of the diagnosis must not hide the wrong output
            untried = f"not explained: {type(error).__name__}: {error}"[:_MOST_UNTRIED]
            return Explanation(diagnoses=found, untried="" if found else untried)
        return Explanation(diagnoses=found, feeds=feeds, feeding=count)

    def _explains_alone(self, problem: ProblemDefinition, clue: Clue) -> bool:
        """Whether a fitting clue needs no further explanation."""
        return clue.symptom in _CERTAIN or ((problem.name, clue.symptom) == self._last and names_cause(clue))

    def _clues_of_hypotheses(
        self, problem: ProblemDefinition, inputs: Arguments, number: int, output: WrongOutput
    ) -> Iterator[Clue]:
        """A clue for each hypothesis that predicts anything, until one predicts every element."""
        possible = list(hypotheses(problem, inputs, output.expected.shape))
        most = min(_MOST_TRIALS, _MOST_WORK // max(1, _elements(inputs, output)))
        if problem.suite is not None:  # the reference process has no other arithmetic
            possible, most = [one for one in possible if one.arithmetic is None], min(most, _MOST_FOREIGN_CALLS)
        possible.sort(key=lambda one: (problem.name, one.symptom) != self._last)
        for hypothesis in possible[:most]:
            try:
                guess = _guess(problem, hypothesis, number, output)
            except MemoryError:
                return  # it took seconds to fill the memory, and the others may be as large
            clue = output.clue(hypothesis.symptom, guess, **hypothesis.facts) if guess is not None else None
            if guess is not None and clue is not None and clue.explained:
                clue = as_divisor(clue, guess, output.expected)
                yield clue
                if _is_perfect(clue, output):
                    return


def left_unexplained(
    prepared: cases.PreparedCase,
    got: list[torch.Tensor | OutputReport],
    reports: tuple[OutputReport, ...],
    *,
    repeated: bool | None,
) -> tuple[OutputReport, ...]:
    """The reports of a call as from `Explainer.explained`, with a note in place of each explanation."""
    return tuple(
        replace(report, explanation=Explanation(untried=_LATER_CASE)) if report.outcome in _VALUES_ARE_WRONG else report
        for report in reports
    )


def _wrong_output(
    prepared: cases.PreparedCase, number: int, got: torch.Tensor, name: str, *, same_input: bool
) -> WrongOutput:
    is_first = prepared.content is prepared.base and not same_input
    earlier = prepared.first_outputs[number] if number < len(prepared.first_outputs) and not is_first else None
    return WrongOutput(
        name=name,
        got=got,
        expected=prepared.content.expected[number],
        poison=prepared.poison,
        before=_before(prepared, number, name),
        tolerance=prepared.problem.tolerance(prepared.case),
        earlier=earlier if earlier is not None and earlier.shape == got.shape else None,
        same_input=same_input,
    )


def _before(prepared: cases.PreparedCase, number: int, name: str) -> torch.Tensor | None:
    """Content of an output before the call; a returned one may be an argument that was written in place."""
    problem, expected = prepared.problem, prepared.content.expected
    names = output_names(problem, prepared.content.specs, expected)
    for other, spec in written_specs(problem, prepared.content.specs):
        if other.partition("[")[0] in problem.written_only:
            continue
        if other == name or expected[number] is expected[names.index(other)]:
            return tensors.view(spec, prepared.initial[spec.storage])
    return None


def _inputs_on_host(content: cases.Content) -> Arguments:
    """The arguments with all of the memory behind them, which some hypotheses read beyond the tensors."""
    storages = [storage.cpu() for storage in content.storages]
    return tuple(tensors.value_of(spec, storages) for spec in content.specs)


def _elements(inputs: Arguments, output: WrongOutput) -> int:
    return output.got.numel() + sum(value.numel() for value in inputs if isinstance(value, torch.Tensor))


def _is_perfect(clue: Clue, output: WrongOutput) -> bool:
    return clue.explained == output.wrong_count and not clue.contradicted


def _guess(problem: ProblemDefinition, hypothesis: Hypothesis, number: int, output: WrongOutput) -> torch.Tensor | None:
    """Output of the reference under the hypothesis, cut to the shape of the output; None when there is none.

    Raises:
        MemoryError: the reference allocates too much.
    """
    try:
        with limited_memory(_MOST_BYTES):
            outputs = hypothesis.outcome(lambda arguments: expected_outputs(problem, arguments))
    except MemoryError:
        raise
    except Exception:  # a reference may reject the assumed arguments with any exception, which rules the hypothesis out
        return None
    expected = output.expected
    guess = computable(outputs[number]) if outputs is not None and number < len(outputs) else None
    if guess is None or guess.dim() != expected.dim() or guess.dtype != expected.dtype:
        return None
    guess = guess.to(expected.device)
    if guess.dim() == 1 and guess.numel() < expected.numel():
        # The assumed buffer is shorter: the rest is not written.
        rest = output.before if output.before is not None else expected
        guess = torch.cat((guess, rest.to(guess.device)[guess.numel() :]))
    if any(one < other for one, other in zip(guess.shape, expected.shape, strict=True)):
        return None
    guess = guess[tuple(slice(size) for size in expected.shape)]
    if output.before is None or hypothesis.facts.get("argument") not in problem.mutates:
        return guess
    # Elements that must stay unchanged also stay unchanged under this hypothesis.
    return torch.where(raw(expected) == raw(output.before), output.before, guess)
