"""A task as a ProblemDefinition whose functions call a reference process, to which the judge is connected."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import ReferenceFaultError, UnsupportedError
from engine.model import CandidateForm, Case, Cost, Precision, ProblemDefinition
from engine.problem_source import AttachedProblem, ReferenceClient, ReferenceUnavailableError
from problems.suites import fp4
from problems.suites.blobs import parts_of
from problems.suites.calibration import Calibrated, Runs, calibrated
from problems.suites.fitting_cases import fitting_cases
from problems.suites.own_rule import rule_of
from problems.suites.plan import CASE, PlannedTask, argument_names
from problems.suites.quantised import UNIT, comparer, formats_of
from problems.suites.task import RuleKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from engine import protocol
    from engine.model import Arguments, CalledCase, Outputs
    from problems.suites.task import OwnRule

_MOST_SEED = 1 << 62
_CALIBRATION_SEED = 0
_TIMED_CONTENTS = 4


def attached(planned: PlannedTask, reference: ReferenceClient) -> AttachedProblem:
    """The problem of a task, opened in the reference process and calibrated on one draw.

    Raises:
        ReferenceFaultError: the task's code failed.
        UnsupportedError: it needs more memory than there is, or its reference is random.
    """
    names = argument_names(planned.task)
    functions = ForeignFunctions(reference, written=tuple(map(names.index, planned.contract["mutates"])))
    try:
        for name, stored in planned.task.blobs.items():
            reference.write_file(name, parts_of(stored))
        opened = reference.open(
            harness=planned.harness, file=planned.file, files=planned.files, details=planned.details
        )
        fitting = fitting_cases(planned, opened.needed_bytes)
        found = functions.calibrated(fitting.cases[0])
    except ReferenceUnavailableError as error:
        raise UnsupportedError(f"{planned.task.name} cannot be run here: {error}") from error
    formats, fp4_outputs = formats_of(planned.details), [name in planned.task.fp4 for name in planned.task.outputs]
    tolerance, how = (lambda case: functions.calibrated(case).tolerance), found.sentence
    compare = None
    if formats is not None:
        compare, how = comparer(formats, functions.exact), f"outputs are compared in {UNIT}"
    elif any(fp4_outputs):
        has_inputs = sum(fp4_outputs) < len(planned.task.fp4)
        compare = fp4.comparer(fp4_outputs, tolerance, has_fp4_inputs=has_inputs)
        how = f"outputs of fp4 are compared in {fp4.STEPS}; {how}"
    definition = ProblemDefinition(
        **{**planned.contract, "cases": fitting.cases},
        make_inputs=functions.make_inputs,
        reference=functions.reference,
        eager=functions.eager,
        tolerance=tolerance,
        cost=functions.cost,
        compare=compare,
        timer=Timer(reference),
        passes_own_rule=functions.own_rule(planned.task.own_rule, planned.task.form),
    )
    left_out = tuple(case.name for case in planned.contract["cases"] if case not in fitting.cases)
    return AttachedProblem(definition=definition, notes=(*opened.notes, *fitting.notes, how), left_out=left_out)


class Timer:
    """Measures the time of the reference in its process, on a few contents of a case."""

    def __init__(self, reference: ReferenceClient) -> None:
        self._reference = reference

    def prepare(self, case: Case) -> None:
        """Draw contents of the case, and call the reference once.

        Raises:
            UnsupportedError: it cannot be timed.
        """
        seeds = [(secrets.randbits(62), secrets.randbits(62)) for _ in range(_TIMED_CONTENTS)]
        try:
            self._reference.prepare_times(seeds=seeds, case=str(case.params.get(CASE, "")))
        except ReferenceUnavailableError as error:
            raise UnsupportedError(str(error)) from error

    def time(self, command: protocol.TimeBaseline) -> protocol.Timed | protocol.Failed:
        """The times of calls of the reference, as the judge times a baseline.

        Raises:
            UnsupportedError: it failed.
        """
        try:
            reply: protocol.Timed | protocol.Failed = self._reference.time(command)
        except ReferenceUnavailableError as error:
            raise UnsupportedError(str(error)) from error
        return reply

    def forget(self) -> None:
        """Free the memory used for timing."""
        self._reference.forget_times()


def _fixed_generator() -> torch.Generator:
    import torch

    return torch.Generator().manual_seed(_CALIBRATION_SEED)


class ForeignFunctions:
    """The functions of one problem, all of which call its reference process.

    `written` are the positions of the arguments that are written in place.
    """

    def __init__(self, reference: ReferenceClient, *, written: tuple[int, ...] = ()) -> None:
        self._reference, self._written = reference, written
        self._found: dict[object, Calibrated] = {}
        self._dtypes: dict[object, tuple[torch.dtype, ...]] = {}  # of the task's own run, by the suite's case
        self._has_double = True
        self._input_bytes = self._output_bytes = 0

    def calibrated(self, case: Case) -> Calibrated:
        """Tolerance of a correct answer in this case, calibrated once for each name of the suite."""
        name = case.params.get(CASE)
        if name not in self._found:
            self._found[name] = self._calibrate(case)
        return self._found[name]

    def _calibrate(self, case: Case) -> Calibrated:
        """Run the reference in every precision that it supports, on the same draw each time a task is opened.

        With a tolerance that changed between runs, a verdict would depend on chance.
        """
        arguments = self._draw(case, _fixed_generator())
        self._input_bytes = self._input_bytes or _tensor_bytes(arguments)
        own = self._reference.expected(arguments, Precision.OWN)
        self._dtypes[case.params.get(CASE)] = tuple(output.dtype for output in own)
        double = self._run(arguments, Precision.DOUBLE)
        self._has_double = self._has_double and double is not None
        self._output_bytes = _bytes(own)
        if not self._output_bytes and CASE not in case.params:
            raise UnsupportedError("its outputs have no elements, so no comparison can recognise a correct answer")
        return calibrated(
            Runs(
                own=own,
                again=self._reference.expected(arguments, Precision.OWN),
                double=double,
                lower=self._run(arguments, Precision.LOWER),
            )
        )

    def make_inputs(self, case: Case, rng: torch.Generator | None) -> Arguments:
        """Arguments of the suite's case with this name, from two seeds drawn from the generator."""
        try:
            arguments = self._draw(case, rng)
        except ReferenceUnavailableError as error:
            raise ReferenceFaultError(f"the inputs of {case.name} cannot be made: {error}") from error
        self._input_bytes = self._input_bytes or _tensor_bytes(arguments)
        return arguments

    def _draw(self, case: Case, rng: torch.Generator | None) -> Arguments:
        import torch

        device = rng.device if rng is not None else None
        seeds = torch.randint(_MOST_SEED, (2,), generator=rng, device=device).tolist()
        return self._reference.draw(seed=seeds[0], weight_seed=seeds[1], case=str(case.params.get(CASE, "")))

    def reference(self, *arguments: object) -> Outputs:
        """The float64 run, rounded to the dtypes of the task's own run; the latter if there is no float64 run."""
        given: Arguments = arguments  # type: ignore[assignment]  # as make_inputs made them, or variants of that
        known = self._dtypes[None] if self._dtypes.keys() == {None} else ()
        dtypes = known if all(dtype.is_floating_point for dtype in known) else ()
        exact = self._run(given, Precision.DOUBLE, dtypes=dtypes) if self._has_double else None
        if exact is None:
            return self._reference.expected(given, Precision.OWN)
        if dtypes:
            return exact
        # Indices and flags that depend on rounding are computed in the task's own precision.
        own = self._reference.expected(given, Precision.OWN)
        return tuple(
            better.to(output.dtype) if output.is_floating_point() or output.is_complex() else output
            for better, output in zip(exact, own, strict=True)
        )

    def exact(self, arguments: Arguments) -> Sequence[torch.Tensor]:
        """The float64 run, not rounded; the task's own run if there is none."""
        found = self._run(arguments, Precision.DOUBLE)
        return found if found is not None else self._reference.expected(arguments, Precision.OWN)

    def own_rule(self, rule: OwnRule, form: CandidateForm) -> Callable[[CalledCase], bool | None] | None:
        """The suite's rule as a function; a rule in the task's own code is applied in the reference process."""
        found = self._own_code if rule.kind is RuleKind.OWN_CODE else rule_of(rule)
        return found if found is None or form is not CandidateForm.CALL else partial(self._on_returned, found)

    def _on_returned(self, rule: Callable[[CalledCase], bool | None], call: CalledCase) -> bool | None:
        """The rule for the returned values of a call, as in the suite's tests; None for a call that only writes."""
        count = len(call.outputs) - len(self._written_in(call.arguments))
        return rule(replace(call, outputs=call.outputs[:count], expected=call.expected[:count])) if count else None

    def _written_in(self, arguments: Arguments) -> list[torch.Tensor]:
        """The tensors among the arguments that are written in place."""
        from engine.protocol.tensors import tensors_in

        return [tensor for place in self._written for tensor in tensors_in(arguments[place])]

    def _own_code(self, call: CalledCase) -> bool | None:
        """Result of the task's own check for a call; None if there is none."""
        try:
            return self._reference.passes_own_rule(call.arguments, call.outputs)
        except (ReferenceUnavailableError, ReferenceFaultError):
            return None

    def eager(self, *arguments: object) -> Outputs:
        """The task's own run, which writes its outputs to the written arguments."""
        given: Arguments = arguments  # type: ignore[assignment]  # as in `reference`
        outputs = self._reference.expected(given, Precision.OWN)
        written = self._written_in(given)
        count = len(outputs) - len(written)
        for tensor, value in zip(written, outputs[count:], strict=True):
            tensor.copy_(value)
        return outputs[:count]

    def cost(self, case: Case) -> Cost:
        """The bytes of inputs and outputs; the number of operations is unknown."""
        return Cost(flops=0, bytes_read=self._input_bytes, bytes_written=self._output_bytes)

    def _run(
        self, arguments: Arguments, precision: Precision, *, dtypes: Sequence[torch.dtype] = ()
    ) -> tuple[torch.Tensor, ...] | None:
        try:
            return self._reference.expected(arguments, precision, dtypes=dtypes)
        except ReferenceUnavailableError:
            return None


def _bytes(outputs: Sequence[torch.Tensor]) -> int:
    return sum(output.numel() * output.element_size() for output in outputs)


def _tensor_bytes(arguments: Arguments) -> int:
    from engine.protocol.tensors import tensors_in

    return sum(tensor.numel() * tensor.element_size() for value in arguments for tensor in tensors_in(value))
