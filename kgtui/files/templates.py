"""The template of a new kernel file, from a problem's signature; it loads, and raises NotImplementedError when called.

Only makes text; the caller writes it.
"""

from __future__ import annotations

import re
import textwrap

from engine.model import CandidateForm, Problem
from engine.model.problems.form import MODULE_ARGUMENTS

_WIDTH = 116
_TORCH_NAMES = {"Tensor": "torch.Tensor", "DType": "torch.dtype"}
_TYPE = re.compile(rf"\b({'|'.join(_TORCH_NAMES)})\b")
_NEXT_ARGUMENT, _INDENT = re.compile(r", (?=\w+:)"), "\n    "
_MOST_CASES = 6

_TEMPLATE = '''\
# kgtui: op={name}
"""{summary}.

{contract}

Cases, the lightest first:
{cases}
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl


{definition}
    # Empty tensors and unusual strides are among the cases.
    raise NotImplementedError(
        "{entry} is not written yet: "
        "launch {entry}_kernel and {ending}"
    )


@triton.jit
def {entry}_kernel(x_ptr, y_ptr, elements, BLOCK: tl.constexpr):
    """One program takes BLOCK elements; this copies them."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < elements
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x, mask=inside)
'''

_MODULE = '''\
# kgtui: op={name}
"""{summary}.

{entry} is made with the arguments of the reference's Model and gets its parameters and buffers by name, so names and
shapes of weights should be those of Model.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl


class {entry}(torch.nn.Module):
    def __init__(self, *args):
        super().__init__()

    def forward(self, {inputs}):
        raise NotImplementedError("forward is not written yet: launch a kernel and return its output")
'''


def scaffold(problem: Problem) -> str:
    """The text of a new kernel file."""
    if problem.form is CandidateForm.MODULE:
        return _MODULE.format(
            name=problem.name,
            summary=problem.summary.rstrip(".").replace("\\", "\\\\"),
            entry=problem.entry,
            inputs=", ".join(problem.arguments[:-MODULE_ARGUMENTS]),
        )
    ending = "return its output" if problem.returns != 0 else "write its outputs in place"
    return _TEMPLATE.format(
        name=problem.name,
        summary=problem.summary.rstrip(".").replace("\\", "\\\\"),
        contract=_contract(problem),
        cases=_cases(problem),
        definition=_definition(problem.shown_signature),
        entry=problem.entry,
        ending=ending,
    )


def _contract(problem: Problem) -> str:
    """Comment on the entry's arguments and its output."""
    lines = [textwrap.fill(problem.shown_signature, _WIDTH)]
    if problem.mutates and problem.form is CandidateForm.CALL:
        lines.append("Writes in place what the reference writes.")
    elif problem.mutates:
        lines.append(f"Writes {_listed(problem.mutates)} in place.")
    return "\n".join(lines)


def _cases(problem: Problem) -> str:
    names = [case.name for case in problem.cases]
    lines = [f"    {name}" for name in names[:_MOST_CASES]]
    if len(names) > _MOST_CASES:
        lines.append(f"    and {len(names) - _MOST_CASES} more: kgtui problems show {problem.name}")
    return "\n".join(lines)


def _definition(signature: str) -> str:
    """The line `def ...:` with the types' Python names, wrapped if it is too long."""
    line = f"def {_TYPE.sub(lambda found: _TORCH_NAMES[found[0]], signature)}:"
    if len(line) <= _WIDTH:
        return line
    head, _, rest = line.partition("(")
    arguments, _, returned = rest.rpartition(")")
    return f"{head}(\n    {_NEXT_ARGUMENT.sub(f',{_INDENT}', arguments)},\n){returned}"


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
