"""Tapes of two calls of a case on different contents: of verified calls, or of further ones made for the proof."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as replace_fields

from engine import protocol
from engine.draws import Draws
from engine.errors import EngineError, WireError
from engine.model import Case, Determinism
from engine.model.proof import CaseProof, Gap
from engine.probes.lab.case_session import CallContent, CallResult, CaseSession, Lab, PassedCase
from engine.protocol.proof.tape import MOST_TAPE_BYTES, Given, LookedUp, Tape, read_tape
from engine.replay.agreement import Agreement, Disagreement, agreement
from engine.replay.needed import needed_part
from engine.run.proving.replays import mismatch_of
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted

_POISONS = (0xFF, 0x7B, 0xA5)
_FEW_CASES, _BITS_OF_AGAIN = 8, 3  # further calls of every case in a run of so few, else of one case in eight


@dataclass(frozen=True, kw_only=True)
class CallOutputs:
    """The judge's SHA-256 of the outputs of a call on the content of `seed`."""

    seed: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class ComparedTapes:
    """The tape of a call on the content of `seed`, and how that of an `other` call, on other content, differs from it.

    `outputs` are those of one of the two calls if they agree; of the first if launches get other seeds in each call.
    """

    tape: Tape
    seed: int
    other: Tape
    agreed: Agreement
    outputs: CallOutputs

    @property
    def called(self) -> Tape:
        """The tape of the call whose outputs are known, without what the worker claims of its kernels."""
        return replace_fields(self.tape if self.outputs.seed == self.seed else self.other, claimed=())

    @property
    def agree(self) -> bool:
        """Whether the two tapes agree."""
        return self.agreed.difference is Disagreement.NONE


class CallTaper:
    """Makes tapes of the calls of each case that passed, and compares them."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._draws = Draws(lab.plan.draw_seed, "tapes")

    async def of_case(self, one: PassedCase) -> ComparedTapes | CaseProof:
        """Tapes of verified calls that agree, or that of the last one and of further calls until two of them agree.

        The last two compared if none agree; the proof's gap if a call cannot be taped.

        Raises:
            EngineError: judge or worker failed.
        """
        tapes = [self._needed(tape) for tape in await asyncio.to_thread(_verified_tapes, one)]
        seed, digest = one.result.seed, one.digest
        if not tapes or seed is None or digest is None:
            return await self._with_further_calls(one, None)
        outputs = CallOutputs(seed=seed, digest=digest)
        if len(tapes) > 1 and not self._is_called_again():
            agreed = self._agreement(*tapes[-2:])
            calls = ComparedTapes(tape=tapes[-1], seed=seed, other=tapes[-2], agreed=agreed, outputs=outputs)
            if calls.agree:
                return calls
        return await self._with_further_calls(one, (tapes[-1], outputs))

    async def _with_further_calls(
        self, one: PassedCase, verified: tuple[Tape, CallOutputs] | None
    ) -> ComparedTapes | CaseProof:
        """Tapes of calls made now, the first of which may agree with that of a verified call."""
        calls: ComparedTapes | None = None
        earlier = [verified] if verified is not None else []
        seed = self._draws.number(one.case.name)
        async with self._lab.at(one.case, poison=_POISONS[0], seed=seed) as session:
            for number, poison in enumerate(_POISONS):
                if number:
                    seed = self._draws.number(one.case.name)
                content = CallContent(seed=seed) if number else None
                made = await self._taped(session, poison=poison, content=content)
                if isinstance(made, CaseProof):
                    return made
                tape, returned = made
                if earlier:
                    other, outputs = self._comparable(earlier, tape)
                    agreed = self._agreement(other, tape)
                    calls = ComparedTapes(tape=tape, seed=seed, other=other, agreed=agreed, outputs=outputs)
                    if calls.agree and not agreed.seeds:
                        return calls
                compared = await self._outputs(session, returned, seed=seed)
                if isinstance(compared, CaseProof):
                    return compared
                if calls is not None:
                    calls = replace(calls, outputs=compared)
                    if calls.agree:
                        return calls
                earlier.append((tape, compared))
        assert calls is not None  # several calls were made
        return calls

    def _comparable(self, earlier: list[tuple[Tape, CallOutputs]], tape: Tape) -> tuple[Tape, CallOutputs]:
        """The earlier call to compare with a tape: the last one.

        For a random operator it is the last one of the same specialisations, if there is one: Triton compiles another
        specialisation for seeds that are multiples of 16, and a drawn seed is one of these with a probability of 1/16.
        """
        if self._is_random:
            for other, outputs in reversed(earlier):
                if other.specialisations == tape.specialisations:
                    return other, outputs
        return earlier[-1]

    @property
    def _is_random(self) -> bool:
        return self._lab.problem.determinism is Determinism.RANDOM

    def _is_called_again(self) -> bool:
        """Whether a case gets a further call, drawn so that a candidate that counts its calls cannot know the last."""
        return len(self._lab.passed) <= _FEW_CASES or self._draws.number("again", bits=_BITS_OF_AGAIN) == 0

    def _agreement(self, one: Tape, other: Tape) -> Agreement:
        """How two tapes differ; the kernels of a random operator may get other seeds in each call."""
        return agreement(one, other, seeds_differ=self._is_random)

    async def _taped(
        self, session: CaseSession, *, poison: int, content: CallContent | None
    ) -> tuple[Tape, protocol.Returned] | CaseProof:
        """The tape of a further call and what it returned, or why the case is not proven."""
        name = session.case.name
        path = session.outputs.with_suffix(".tape")
        kills = self._lab.session.kills
        called = await session.make(poison=poison, content=content, tape=path)
        if isinstance(called, CallResult):
            if self._lab.session.kills > kills:
                raise EngineError(called.trouble)
            return _another_call(name, f"failed: {called.trouble}")
        tape = await _read_all(session.case, path)
        return tape if isinstance(tape, CaseProof) else (self._needed(tape), called.returned)

    def _needed(self, tape: Tape) -> Tape:
        """The part of a tape that its outputs need; the lines of all of it are noted."""
        steps = (step for step in tape.steps if isinstance(step, Given | LookedUp))
        self._lab.torch_lines.update(step.line for step in steps if step.line is not None)
        return needed_part(tape)

    async def _outputs(
        self, session: CaseSession, returned: protocol.Returned, *, seed: int
    ) -> CallOutputs | CaseProof:
        """The outputs of the last call if they are right, or why the case is not proven."""
        compared = await session.compare(returned)
        if isinstance(compared, str):
            return _another_call(session.case.name, f"failed: {compared}")
        if mismatch := mismatch_of(compared):
            return _another_call(session.case.name, f"is wrong: {mismatch}", gap=Gap.OTHER_INPUTS)
        if compared.outputs_digest is None:
            raise EngineError("the judge did not hash the outputs of a call")
        return CallOutputs(seed=seed, digest=compared.outputs_digest)


async def read_recorded(case: Case, path: Path) -> Tape | CaseProof:
    """The part of a tape that its outputs need, or why it proves nothing; the file is deleted."""
    tape = await _read_all(case, path)
    return tape if isinstance(tape, CaseProof) else needed_part(tape)


async def _read_all(case: Case, path: Path) -> Tape | CaseProof:
    try:
        tape = await asyncio.to_thread(_read, path)
    except (UntrustedFileError, WireError) as error:
        return CaseProof(case=case.name, gap=Gap.UNSUPPORTED, reason=f"the worker's tape cannot be read: {error}")
    if tape.incomplete:
        return CaseProof(case=case.name, gap=Gap.UNSUPPORTED, reason=f"not recorded: {tape.incomplete}")
    return tape


def _another_call(case: str, what: str, *, gap: Gap = Gap.UNSTEADY) -> CaseProof:
    return CaseProof(case=case, gap=gap, reason=f"another call of this case {what}")


def _verified_tapes(one: PassedCase) -> list[Tape]:
    """The tapes of verified calls, but those lost with their worker, unreadable, or incomplete."""
    tapes = []
    for path in one.tapes:
        with contextlib.suppress(UntrustedFileError, WireError):
            tapes.append(_read(path))
    return [tape for tape in tapes if not tape.incomplete]


def _read(path: Path) -> Tape:
    """The whole tape; the file is deleted."""
    try:
        return read_tape(read_untrusted(path, max_bytes=MOST_TAPE_BYTES))
    finally:
        path.unlink(missing_ok=True)
