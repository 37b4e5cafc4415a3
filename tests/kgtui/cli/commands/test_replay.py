"""`kgtui export-proof` writes the proof of a run, `kgtui replay` reports what it proves here."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import jsonschema
import pytest

from engine.artefacts import ArtefactStore
from engine.errors import UnsupportedError, UsageError
from engine.model.events import ProofStored
from engine.model.proof import CaseProof, Gap, ReplayedCase
from engine.protocol.proof.proof_file import packed, proof_bytes
from kgtui.cli.command_line import parse
from kgtui.cli.commands import replay
from kgtui.schemas import schema_text
from tests.engine.replay.proofs import proof

PROVEN = ReplayedCase(proof=CaseProof(case="1000 f32"), same_inputs=True, same_expected=True, same_outputs=True)
WRONG = ReplayedCase(
    proof=CaseProof(case="1000 f32", gap=Gap.NOT_REPRODUCED, reason="the recorded launches do not give the answer")
)


@pytest.fixture
def proven_run(checked, engine, kernel, home):
    """Run #1, with a proof among the artefacts."""
    artefact = ArtefactStore(folder=home / "artefacts").put("proof", packed(proof_bytes(proof())))
    engine.extra = (ProofStored(at_s=0.1, artefact=artefact, cases=1),)
    checked("silu.py", "--cases", "smoke")
    return artefact


@pytest.fixture
def replayed(console, folder):
    """Replay a proof file whose cases end like this; the exit code and the output."""

    def run(proof_file, *cases, options=()):
        async def replaying(content, problem, console):
            assert (content, problem.name) == (proof_file, content.run.problem)
            for case in cases:
                yield case

        (folder / "a.proof").write_bytes(proof_bytes(proof_file))
        out = io.StringIO()
        line = parse(["replay", "a.proof", *options])
        return replay.run(line.options, replace(console, out=out), replaying=replaying), out.getvalue()

    return run


def test_proof_of_run_becomes_a_file(typed, proven_run, folder):
    ended = typed("export-proof", "1", "a.proof")
    assert (ended.exit_code, ended.out, ended.err) == (
        0,
        "wrote a.proof: run #1, proven cases: 1, kernels: 1\nnext: kgtui replay a.proof\n",
        "",
    )
    assert (folder / "a.proof").read_bytes() == proof_bytes(proof())


def test_a_run_without_a_proof_is_refused(typed, checked, kernel):
    checked("silu.py", "--cases", "smoke")
    ended = typed("export-proof", "1", "a.proof")
    assert (ended.exit_code, ended.err[:41]) == (2, "kgtui: run #1 has no proof file: no case ")


def test_deleted_stored_proof_is_refused(typed, proven_run, home):
    ArtefactStore(folder=home / "artefacts").remove(proven_run.digest)
    ended = typed("export-proof", "1", "a.proof")
    assert ended.exit_code == 2
    assert ended.err.endswith("verify the kernel again\n")


def test_a_proven_file_is_reported(replayed):
    code, out = replayed(proof(), PROVEN)
    assert code == 0
    assert out.splitlines()[0] == "aten::silu: 1 case, 1 kernel, candidate dddddddddddd"
    assert out.splitlines()[1].startswith("made with torch 2.0.0 (here ")
    assert out.splitlines()[2:] == [
        "1/1 cases proven here, on the recorded inputs and on new ones",
        "cases equal to the bit from the recorded seeds: inputs 1, outputs 1",
        "not in the file, because they were not proven: 1 passed case of the run",
    ]


def test_unproven_case_fails_with_its_reason(replayed):
    code, out = replayed(proof(), WRONG)
    assert code == 1
    assert "1000 f32: not proven: the recorded launches do not give the answer\n0/1 cases proven here" in out


def test_replaying_on_a_missing_device_is_refused(replayed, monkeypatch):
    monkeypatch.setattr("engine.devices.cuda.detect", lambda: ())
    with pytest.raises(UnsupportedError, match="there is no cuda device on this machine"):
        replayed(proof(), PROVEN, options=("--device", "cuda"))


@pytest.mark.parametrize("case", [PROVEN, WRONG], ids=["proven", "wrong"])
def test_the_document_follows_its_schema(replayed, case):
    _, out = replayed(proof(), case, options=("--json",))
    jsonschema.Draft202012Validator(json.loads(schema_text("replay"))).validate(json.loads(out))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem": "user::mine"}, "'user::mine', which is not known here; name --problems DIR or --suite PATH"),
        ({"version": "abc"}, "the proof is of another version of aten::silu"),
        ({"case": "no such"}, "aten::silu has no case 'no such' here; install kgtui 0.1.0, which made the proof"),
    ],
    ids=["operator", "version", "case"],
)
def test_proof_with_unknown_names_is_refused(replayed, changes, words):
    with pytest.raises(UsageError, match=words):
        replayed(proof(**changes))


def test_a_changed_file_is_refused(typed, folder):
    (folder / "a.proof").write_bytes(proof_bytes(proof()).replace(b"1000 f32", b"2000 f32"))
    ended = typed("replay", "a.proof")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: the proof file was changed or damaged: its SHA-256 differs; export it again\n",
    )
