"""Text of a stand-alone script for one case of one run.

Only makes text; the caller writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.errors import UsageError
from engine.model import Case, CaseResult, DType, Outcome, Parameter, Problem
from engine.problem_source import ProblemDescription
from engine.static.source import SourceError, decode
from kgtui.standalone.inlining import Inliner

_HARNESS, _NARROW = "engine.judge.standalone", "engine.worker.triton_interpreter.bfloat16"
_ROLES = ("make_inputs", "reference", "tolerance")
_CALLS_WITH_OLD_MEMORY = 3  # the third call of a case is on new content in the memory of the first two
_INTERPRET = '\nos.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported\n'
_TEMPLATE = '''\
"""{problem}, case {case}: {outcome}.

{message}

Needs only torch and Triton.  `python {name}` verifies the candidate below, `python {name} FILE` another file
with the same entry; exit status 0 when it is correct, 1 when it is wrong, 2 when the device is missing.
{note}"""

from __future__ import annotations

{imports}
{interpret}

CANDIDATE = {candidate}

{definitions}


REPLAY = Replay(
    candidate=CANDIDATE,
    filename={filename!r},
    entry={entry!r},
    case={case_made},
    seed={seed},
    device={device!r},
    make_inputs={make_inputs},
    reference={reference},
    tolerance={tolerance},
    compare={compare},
    returns={returns},
    returns_scalar={returns_scalar},
    written={written!r},
    overwritten={overwritten!r},
    answers_before={answers_before},
)

if __name__ == "__main__":
{narrow}    sys.exit(REPLAY.run(sys.argv[1:]))
'''


@dataclass(frozen=True, kw_only=True)
class FailedCase:
    """Content of a script: a case, its result, and its run."""

    problem: Problem
    described: ProblemDescription
    result: CaseResult
    source: bytes
    filename: str
    device: str


def standalone_script(failed: FailedCase, *, name: str) -> str:
    """The text of the script that will be called `name`.

    Raises:
        UsageError: the case did not fail, no inputs were made for it, or a function of the problem is not plain.
    """
    problem, result = failed.problem, failed.result
    if problem.suite is not None:
        raise UsageError(
            f"{problem.name} is a problem of {problem.suite.suite}, whose reference is not part of kgtui; run its own "
            f"file {failed.described.file}"
        )
    if result.outcome is Outcome.PASS or result.seed is None:
        why = "it passed" if result.outcome is Outcome.PASS else "no inputs were made for it"
        raise UsageError(f"nothing to reproduce of {result.case}: {why}")
    case = problem.case(result.case)
    module = problem.name.replace("::", ".")
    inliner = Inliner(files={module: failed.described.file})
    functions = {role: _taken(inliner, failed.described, role, module) for role in _ROLES}
    compares = "compare" in failed.described.functions
    functions["compare"] = _taken(inliner, failed.described, "compare", module) if compares else "None"
    for wanted in ("Case", "DType", "Tier"):
        inliner.take("engine.model", wanted)
    inliner.take(_HARNESS, "Replay")
    is_interpreted = failed.device == "cpu"
    mends = is_interpreted and case.dtype is DType.BFLOAT16
    if mends:
        inliner.take(_NARROW, "install")
    arguments = problem.arguments
    imports = inliner.imports.splitlines()
    return _TEMPLATE.format(
        problem=problem.name,
        case=_plain(case.name),
        outcome=result.outcome.value.replace("_", " "),
        message=_plain(result.message),
        name=name,
        note=_note(result),
        imports="\n".join(sorted({*imports, "import os", "import sys"}, key=lambda line: (line[:4] == "from", line))),
        interpret=_INTERPRET if is_interpreted else "",
        candidate=_quoted(_decoded(failed)),
        definitions=inliner.text,
        filename=failed.filename,
        entry=problem.entry,
        case_made=_case(case),
        seed=result.seed,
        device=failed.device,
        **functions,
        returns=problem.returns,
        returns_scalar=problem.returns_scalar,
        written={argument: arguments.index(argument) for argument in problem.mutates},
        overwritten=tuple(arguments.index(argument) for argument in problem.written_only),
        answers_before=result.calls == _CALLS_WITH_OLD_MEMORY,
        narrow="    install()  # bfloat16 as a GPU computes it; Triton's interpreter does not\n" if mends else "",
    )


def script_name(filename: str, case: str) -> str:
    """Name of the script for this case of this kernel file."""
    stem = filename.removesuffix(".py")
    word = "".join(letter if letter.isalnum() else "_" for letter in case).strip("_")
    return f"{stem}_case_{word}.py"


def _taken(inliner: Inliner, described: ProblemDescription, role: str, module: str) -> str:
    name = described.functions.get(role)
    if name is None:
        raise UsageError(f"{described.file}: {role} is not the name of a function, so no script can use it")
    inliner.take(module, name)
    return name


def _decoded(failed: FailedCase) -> str:
    try:
        return decode(failed.source, failed.filename)
    except SourceError as error:
        raise UsageError(f"{error}; it cannot be written into a script") from error


def _note(result: CaseResult) -> str:
    if result.out_of_bounds is not None:
        return "\nThe run stopped at an access out of bounds, which Triton by itself does not notice.\n"
    return ""


def _case(case: Case) -> str:
    params = ", ".join(f"{key!r}: {_literal(value)}" for key, value in case.params.items())
    return f"Case(name={case.name!r}, dtype=DType.{case.dtype.name}, tier=Tier.{case.tier.name}, params={{{params}}})"


def _literal(value: Parameter) -> str:
    """A parameter as a Python expression: enum members by name, and numbers without a literal as calls."""
    if isinstance(value, str):
        return repr(str(value))
    return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _quoted(text: str) -> str:
    """A string literal of the text that is readable."""
    escaped = text.replace("\\", "\\\\").replace("'''", "\\'\\'\\'")
    return f"'''\\\n{escaped}'''"


def _plain(text: str) -> str:
    """The text, made safe for a docstring."""
    return text.replace("\\", "\\\\").replace('"""', "'''")
