"""What a proof file says of its versions, and in which order it has its cases."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from engine.artefacts import ArtefactStore
from engine.model import Case, DType, Tier
from engine.protocol.proof.proof_file import read_proof, unpacked
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.proof_of_tape import TapedCase
from engine.run.proving.proof_record import ProofRecord, versions
from tests.engine.replay.proofs import proof


def test_missing_package_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "kgtui":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = versions()
    assert (found["kgtui"], found["torch"]) == ("unknown", "1.0")


def test_cases_are_stored_in_the_order_of_the_run(tmp_path: Path) -> None:
    made = proof()
    [proven], [kernel] = made.cases, made.kernels
    record = ProofRecord()
    for name in ("c", "a", "b"):  # as they were proven
        taped = TapedCase(
            case=Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}),
            tape=proven.tape,
            kernels=(LoweredKernel(name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments),),
        )
        record.add(taped, seed=1, digests=proven.digests)
    store = ArtefactStore(folder=tmp_path)
    stored = record.store(store, made.run, ("a", "unproven", "b", "c"))
    read = read_proof(unpacked(store.read(stored.digest)))
    assert [case.case for case in read.cases] == ["a", "b", "c"]
    assert read.kernels == made.kernels
