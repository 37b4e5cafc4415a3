"""The published rules of strict benchmarks: what they allow of PyTorch, and which check breaks which rule.

They match spelling and refuse honest files too, so nothing here is a hint and nothing runs by default.  A strict policy
refuses a file for these breaches, and also a file that could not be checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engine.model import Finding, Severity
from engine.model.parsing import parse
from engine.static.analysis import Reading
from engine.static.analysis.tensors import Origin
from engine.static.analysis.vocabulary import weight_of, weight_of_method
from engine.static.checks import checks
from engine.static.findings import hint
from engine.verdict.decide import Breach

WHITELIST = "whitelist"
_READABLE = "The rules can be checked from the source."


def rules() -> Mapping[str, str]:
    """The sentence of the rule that a finding of each name breaks; a check that breaks none is not in it."""
    sentences = {check.name: check.strict for check in checks() if check.strict}
    return {**sentences, WHITELIST: "Only PyTorch functions that allocate, view, copy or describe tensors are called."}


def breaches(
    tree: ast.Module, text: str, entry: str, found: Sequence[Finding], *, signature: str = ""
) -> tuple[Breach, ...]:
    """Every broken rule in the order of the lines; `found` is what the static checks found in this text.

    `signature` is the problem's, whose annotations determine which arguments of the entry are tensors.
    """
    unchecked = tuple(unread_breach(one) for one in found if one.severity is Severity.NOTE)
    if unchecked:
        return unchecked
    sentences = rules()
    broken = [Breach(rule=sentences[one.check], finding=one) for one in found if one.check in sentences]
    places = {breach.finding.location for breach in broken}
    computing = outside_whitelist(Reading(tree, text=text, entry=entry, given=_tensor_positions(signature)))
    broken += [Breach(rule=sentences[WHITELIST], finding=one) for one in computing if one.location not in places]
    return tuple(sorted(broken, key=lambda breach: breach.finding.location.line if breach.finding.location else 0))


def unread_breach(finding: Finding) -> Breach:
    """The breach of a rule by a file that could not be checked."""
    return Breach(rule=_READABLE, finding=finding)


def unread_import(path: Path) -> Breach:
    """The breach of a rule by a file that imports this one: the rules are checked in one text."""
    message = f"could not check: {path.name} is imported, and only the file itself is read; put all of it into one file"
    return Breach(rule=_READABLE, finding=Finding(check="imports", severity=Severity.NOTE, message=message))


def outside_whitelist(reading: Reading) -> Iterator[Finding]:
    """Every call of PyTorch in the host code that computes anything, whether its result is used or not."""
    for node, names in reading.uses:
        computing = sorted(name for name in names if weight_of(name))
        if computing:
            yield hint(WHITELIST, node, f"{computing[0]} computes")
    for call in reading.host(ast.Call):
        method = reading.names.attribute(call.func)
        if (
            method is not None
            and weight_of_method(method[1])
            and reading.tensors.origin(method[0]) is not Origin.UNKNOWN
        ):
            yield hint(WHITELIST, call, f".{method[1]}() of a tensor computes")
    for operation in reading.host(ast.BinOp):
        if isinstance(operation.op, ast.MatMult) or reading.tensors.origin(operation) is not Origin.UNKNOWN:
            yield hint(WHITELIST, operation, "arithmetic on tensors computes")


def _tensor_positions(signature: str) -> tuple[int, ...]:
    """Positions of tensors in a problem's signature; none for an empty one."""
    definitions = parse(f"def {signature}: ...").body if signature else []
    parameters = [item for node in definitions if isinstance(node, ast.FunctionDef) for item in node.args.args]
    return tuple(
        position
        for position, item in enumerate(parameters)
        if item.annotation is not None and "Tensor" in ast.unparse(item.annotation)
    )
