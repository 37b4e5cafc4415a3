"""Result of a replayed proof file, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.model.proof import ReplayedCase
from engine.protocol.proof.proof_file import ProofFile
from engine.reports.printable import printable

_SCHEMA = "kgtui.replay/1"
_DIGEST_CHARACTERS = 12
_MOST_SHOWN = 20


def replay_lines(proof: ProofFile, cases: Sequence[ReplayedCase], *, versions: Mapping[str, str]) -> Iterator[str]:
    """The run of the proof, each case that is not proven, and the total."""
    run = proof.run
    count = f"{_counted(len(proof.cases), 'case')}, {_counted(len(proof.kernels), 'kernel')}"
    yield printable(f"{run.problem}: {count}, candidate {run.candidate[:_DIGEST_CHARACTERS]}")
    if others := _other_versions(run.versions, versions):
        yield printable(f"made with {others}")
    failed = [case.proof for case in cases if not case.proof.proven]
    for one in failed[:_MOST_SHOWN]:
        yield printable(f"{one.case}: not proven: {one.reason}")
    if len(failed) > _MOST_SHOWN:
        yield f"and {len(failed) - _MOST_SHOWN} more"
    yield f"{len(cases) - len(failed)}/{len(cases)} cases proven here, on the recorded inputs and on new ones"
    yield _same(cases)
    if run.unproven:
        yield f"not in the file, because they were not proven: {_counted(len(run.unproven), 'passed case')} of the run"


def replay_json(proof: ProofFile, cases: Sequence[ReplayedCase], *, versions: Mapping[str, str]) -> str:
    """The document that the schema `replay` describes."""
    run = proof.run
    document = {
        "schema": _SCHEMA,
        "problem": run.problem,
        "candidate": run.candidate,
        "target": run.target,
        "kernels": len(proof.kernels),
        "made_with": run.versions,
        "replayed_with": dict(versions),
        "proven": sum(case.proof.proven for case in cases),
        "total": len(cases),
        "cases": [
            {
                "case": case.proof.case,
                "proven": case.proof.proven,
                "reason": case.proof.reason,
                "moved_bytes": case.proof.moved_bytes,
                "constants": case.proof.constants,
                "same_inputs": case.same_inputs,
                "same_expected": case.same_expected,
                "same_outputs": case.same_outputs,
            }
            for case in cases
        ],
        "not_in_file": run.unproven,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _other_versions(made: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The packages whose version differs, with both."""
    names = [name for name in made if made[name] != here.get(name)]
    return ", ".join(f"{name} {made[name]} (here {here.get(name, 'none')})" for name in names)


def _same(cases: Sequence[ReplayedCase]) -> str:
    inputs, outputs = sum(case.same_inputs for case in cases), sum(case.same_outputs for case in cases)
    return f"cases equal to the bit from the recorded seeds: inputs {inputs}, outputs {outputs}"
