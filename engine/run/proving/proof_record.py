"""Collects the proofs of a run, and stores them as a proof file among the artefacts."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable

from engine.artefacts import ArtefactStore
from engine.model import Artefact
from engine.model.proof import CaseProof
from engine.protocol.proof.proof_file import ProofFile, ProvenCase, ProvenKernel, ProvenRun, packed, proof_bytes
from engine.protocol.verifying import ContentDigests
from engine.run.proving.proof_of_tape import TapedCase

_PACKAGES = ("kgtui", "torch", "triton", "numpy")


def versions() -> dict[str, str]:
    """The installed versions that a proof is made or replayed with."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(package: str) -> str:
    """The installed version; unknown for a package that runs from its source tree."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


class ProofRecord:
    """The proven cases of a run with their tapes and kernels."""

    def __init__(self) -> None:
        self._kernel_by_name: dict[str, ProvenKernel] = {}
        self._case_by_name: dict[str, ProvenCase] = {}

    def add(self, taped: TapedCase, *, seed: int, digests: ContentDigests) -> None:
        """Keep a case that was proven on content of this seed."""
        for kernel in taped.kernels:
            self._kernel_by_name[kernel.name] = ProvenKernel(
                name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments
            )
        self._case_by_name[taped.case.name] = ProvenCase(
            case=taped.case.name,
            seed=seed,
            digests=digests,
            kernels=tuple(kernel.name for kernel in taped.kernels),
            without=taped.varying,
            tape=taped.tape,
        )

    def case(self, name: str) -> ProvenCase | None:
        """The proven case of this name; None if it was not added."""
        return self._case_by_name.get(name)

    def kernel(self, name: str) -> ProvenKernel:
        """A kernel of a case that was added."""
        return self._kernel_by_name[name]

    @property
    def cases(self) -> int:
        """Number of cases that were added."""
        return len(self._case_by_name)

    def store(self, artefacts: ArtefactStore, run: ProvenRun, order: Iterable[str]) -> Artefact:
        """Write the proof file of this run, with its cases in this order.

        Raises:
            OSError: the folder cannot be written.
        """
        cases = tuple(self._case_by_name[name] for name in order if name in self._case_by_name)
        names = dict.fromkeys(name for case in cases for name in case.kernels)
        kernels = tuple(self._kernel_by_name[name] for name in names)
        proof = ProofFile(run=run, kernels=kernels, cases=cases)
        return artefacts.put("proof", packed(proof_bytes(proof)))


def unproven_reasons(proofs: Iterable[CaseProof]) -> dict[str, str]:
    """The reason for each case that is not proven."""
    return {proof.case: proof.reason for proof in proofs if not proof.proven}
