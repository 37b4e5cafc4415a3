"""Replays the cases of a proof file on this machine: on the recorded inputs, and on new ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from engine import protocol
from engine.errors import EngineError, UnsupportedError
from engine.model import Limits, Problem
from engine.model.proof import CaseProof, Gap, ReplayedCase
from engine.processes.process_pool import ProcessPool
from engine.protocol.proof.proof_file import ProofFile, ProvenCase
from engine.protocol.verifying import ContentDigests
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.proof_of_tape import ProofAttempt, TapedCase, try_to_prove
from engine.run.proving.replayer import PersistentReplayer
from engine.run.proving.replays import Replays


async def replay_proof_file(
    proof: ProofFile, problem: Problem, *, process_pool: ProcessPool, limits: Limits, target: str | None = None
) -> AsyncGenerator[ReplayedCase, None]:
    """Replay each case of the file in order; runs no code but that of kgtui and of the operator.

    Kernels are compiled for `target` and launched; without one, the machine executes them.

    Raises:
        UnsupportedError: the problem is of a foreign suite, and its reference does not run here.
    """
    if problem.suite is not None:
        reply = await process_pool.references.attach(problem.id)
        if not isinstance(reply, protocol.ReferenceAttached):
            said = reply.message if isinstance(reply, protocol.Failed) else type(reply).__name__
            raise UnsupportedError(f"the reference of {problem.name} cannot be run here: {said}")
    builds = BinaryBuilds(process_pool.binaries, target=target) if target is not None else None
    replayer = PersistentReplayer(process_pool, builds)
    replays = Replays(replayer, process_pool=process_pool, problem=problem, limits=limits)
    try:
        for case in proof.cases:
            yield await _replayed(replays, problem, proof, case)
    finally:
        if builds is not None:
            await builds.close()
        await replayer.close()


async def _replayed(replays: Replays, problem: Problem, proof: ProofFile, proven: ProvenCase) -> ReplayedCase:
    kernels = tuple(
        LoweredKernel(name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments)
        for kernel in proof.kernels_of(proven)
    )
    taped = TapedCase(case=problem.case(proven.case), tape=proven.tape, kernels=kernels, varying=proven.without)
    try:
        again = await try_to_prove(replays, taped, seed=proven.seed)
        final = again.proof
        if final.proven:
            final = (await try_to_prove(replays, taped)).proof
    except EngineError as error:
        failed = CaseProof(case=proven.case, gap=Gap.ENGINE, reason=str(error) or "the engine failed")
        return ReplayedCase(proof=failed)
    return _compared(final, again, proven.digests)


def _compared(proof: CaseProof, again: ProofAttempt, recorded: ContentDigests) -> ReplayedCase:
    """The proof of a case, and which parts of the recorded replay were reproduced bit for bit."""
    digests = again.replayed.digests if again.replayed is not None else None
    if digests is None:
        return ReplayedCase(proof=proof)
    return ReplayedCase(
        proof=proof,
        same_inputs=digests.inputs == recorded.inputs,
        same_expected=digests.expected == recorded.expected,
        same_outputs=digests.outputs == recorded.outputs,
    )
