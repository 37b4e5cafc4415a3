"""A new kernel file from a problem's signature: loads at once, and says what is missing when it is called.

Only makes text; writing it is its caller's business.
"""

from __future__ import annotations

import ast
import textwrap

from engine.model import Problem

_WIDTH = 116
_TORCH_NAMES = {"Tensor": "torch.Tensor", "DType": "torch.dtype"}
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
    # 1. Allocate what is returned; empty tensors are among the cases.  2. Launch the kernel.  3. Return.
    raise NotImplementedError("{entry} is not written yet: launch {entry}_kernel and {ending}")


@triton.jit
def {entry}_kernel(x_ptr, y_ptr, elements, BLOCK: tl.constexpr):
    """One program takes BLOCK elements; this copies them."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < elements
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x, mask=inside)
'''


def scaffold(problem: Problem) -> str:
    """The text of a new kernel file."""
    ending = "return its output" if problem.returns else f"write {_listed(problem.mutates)} in place"
    return _TEMPLATE.format(
        name=problem.name,
        summary=problem.summary.rstrip(".").replace("\\", "\\\\"),
        contract=_contract(problem),
        cases=_cases(problem),
        definition=_definition(problem.signature),
        entry=problem.entry,
        ending=ending,
    )


def _contract(problem: Problem) -> str:
    """What is called, and where the answer goes."""
    answers = [f"Writes {_listed(problem.mutates)} in place."] if problem.mutates else []
    text = " ".join([problem.signature + ".", *answers])
    return textwrap.fill(text, _WIDTH, break_long_words=False)


def _cases(problem: Problem) -> str:
    names = [case.name for case in problem.cases]
    lines = [f"    {name}" for name in names[:_MOST_CASES]]
    if len(names) > _MOST_CASES:
        lines.append(f"    and {len(names) - _MOST_CASES} more: kgtui problems show {problem.name}")
    return "\n".join(lines)


def _definition(signature: str) -> str:
    """The line `def ...:` with the types' Python names, broken where it is too long."""
    tree = ast.parse(f"def {signature}: ...")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = _TORCH_NAMES.get(node.id, node.id)
    line = ast.unparse(tree).splitlines()[0]
    if len(line) <= _WIDTH:
        return line
    head, _, rest = line.partition("(")
    arguments, _, returned = rest.rpartition(")")
    return f"{head}(\n{textwrap.fill(arguments, _WIDTH, initial_indent='    ', subsequent_indent='    ')}\n){returned}"


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
