"""What a proof waits for: when cases were verified, when binaries were there, and how long a replayer took to start.

`watch` has the engine's own functions noted, so that nothing of them is repeated here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Stage
from engine.model.events import CaseFinished, ProofStored, StageFinished
from engine.processes.builds.binaries import Binaries
from engine.processes.process_pool import ProcessPool
from engine.protocol.proof.proof_file import read_proof, unpacked
from problems.index import open_index
from tests.benchmarks.gpu.bench_inspector import Inspected


@dataclass(kw_only=True)
class Steps:
    """Moments and durations since the last `clear`, by the clock of this process.

    `built_s` are the moments when a binary was there, `started_s` how long each replayer took to start, `begun_s`
    is when the run began.
    """

    begun_s: float = 0.0
    built_s: list[float] = field(default_factory=list)
    started_s: list[float] = field(default_factory=list)

    def clear(self) -> None:
        """Begin with another run."""
        self.begun_s = time.perf_counter()
        self.built_s.clear()
        self.started_s.clear()

    def line(self, one: Inspected) -> str:
        """The steps of a run in a line, in seconds from its begin."""
        verified, proven = one.after(CaseFinished), one.after(StageFinished, Stage.PROVE)
        binaries = f"{max(self.built_s) - self.begun_s:.2f}" if self.built_s else "-"
        replayers = ", ".join(f"{took_s:.2f}" for took_s in self.started_s) or "none"
        return (
            f"verified {_seconds(verified)}, {len(self.built_s)} binaries {binaries}, proven {_seconds(proven)}, "
            f"replayers started meanwhile, each within: {replayers}"
        )


STEPS = Steps()


def watch() -> None:
    """Note every binary and every replayer from now on."""
    build, start = Binaries.build, ProcessPool.start_replayer

    async def noted_build(self: Binaries, *args: Any, **kwargs: Any) -> Any:
        try:
            return await build(self, *args, **kwargs)
        finally:
            STEPS.built_s.append(time.perf_counter())

    async def noted_start(self: ProcessPool, *, on_machine: bool = False) -> Any:
        began = time.perf_counter()
        try:
            return await start(self, on_machine=on_machine)
        finally:
            STEPS.started_s.append(time.perf_counter() - began)

    Binaries.build = noted_build  # type: ignore[method-assign]  # the point of it
    ProcessPool.start_replayer = noted_start  # type: ignore[method-assign]  # the point of it


async def replayed_file(engine: Engine, store: ArtefactStore, one: Inspected, operator: str) -> str:
    """What the proof file of a run proves when it is replayed on the device of this engine."""
    stored = next((event for event in one.events if isinstance(event, ProofStored)), None)
    if stored is None:
        return "no proof file"
    proof = read_proof(unpacked(store.read(stored.artefact.digest)))
    began = time.perf_counter()
    cases = [case async for case in engine.replay(proof, open_index().find(operator))]
    proven = sum(case.proof.proven for case in cases)
    same = ", ".join(
        f"{name} {sum(getattr(case, f'same_{name}') for case in cases)}" for name in ("inputs", "expected", "outputs")
    )
    reasons = {case.proof.reason for case in cases if not case.proof.proven}
    took_s = time.perf_counter() - began
    place, bits = engine.device.platform, f"the same to the bit: {same} {reasons or ''}"
    return f"proof file on {place}: {proven} of {len(cases)} proven in {took_s:.2f} s; {bits}"


def _seconds(moment: float | None) -> str:
    return f"{moment:.2f}" if moment is not None else "-"
