"""One output of a case in plain lines: where it is wrong, by how much, and the likely mistake."""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import OutputReport


def output_lines(output: OutputReport) -> Iterator[str]:
    """Lines on the wrong elements of an output and the size of the error; values not measured are left out."""
    errors = {
        "absolute": output.max_absolute_error,
        "relative": output.max_relative_error,
        "ulp": output.max_ulp_error,
    }
    measured = [f"{name} {value:.3g}" for name, value in errors.items() if value is not None]
    if measured:
        yield f"{output.name}: largest error {', '.join(measured)}"
    if output.first_wrong is not None and output.last_wrong is not None:
        yield f"{output.name}: first wrong {list(output.first_wrong)}, last wrong {list(output.last_wrong)}"
    if output.nonfinite_got != output.nonfinite_expected:
        yield f"{output.name}: not finite {output.nonfinite_got:,}, expected {output.nonfinite_expected:,}"
    yield from diagnosis_lines(output)


def diagnosis_lines(output: OutputReport) -> Iterator[str]:
    """The best diagnosis of an output as a line; none without a diagnosis."""
    for found in output.explanation.diagnoses[:1] if output.explanation else ():
        kind = found.kind.replace("_", " ")
        yield f"{output.name}: looks like {kind}: {found.sentence} ({found.confidence}; {found.evidence})"
