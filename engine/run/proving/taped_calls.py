"""Tapes of two calls of a case on different contents: of verified calls, or of further ones made for the proof."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from engine.draws import Draws
from engine.errors import EngineError, WireError
from engine.model import Determinism
from engine.model.proof import CaseProof, Gap
from engine.probes.lab.case_session import CallContent, CaseSession, Lab, Passed
from engine.protocol.proof.tape import MOST_TAPE_BYTES, Tape, read_tape
from engine.replay.agreement import Agreement, Disagreement, agreement
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted

_POISONS = (0xFF, 0x7B, 0xA5)
_FEW_CASES, _BITS_OF_AGAIN = 8, 3  # further calls of every case in a run of so few, else of one case in eight


@dataclass(frozen=True, kw_only=True)
class TapedCalls:
    """The tape of a call on the content of `seed`, and how that of an `other` call on other content differs from it."""

    tape: Tape
    seed: int
    other: Tape
    agreed: Agreement


class CallTapes:
    """Tapes of the calls of each case that passed."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._draws = Draws(lab.plan.draw_seed, "tapes")

    async def of_case(self, one: Passed) -> TapedCalls | CaseProof:
        """Tapes of verified calls that agree, or that of the last one and of further calls until two of them agree.

        The last two if none agree; the proof's gap if a call cannot be taped.

        Raises:
            EngineError: judge or worker failed.
        """
        tapes = await asyncio.to_thread(_verified_tapes, one)
        if len(tapes) > 1 and one.result.seed is not None and not self._is_called_again():
            agreed = self._agreement(*tapes[-2:])
            if agreed.difference is Disagreement.NONE:
                return TapedCalls(tape=tapes[-1], seed=one.result.seed, other=tapes[-2], agreed=agreed)
        return await self._with_further_calls(one, tapes[-1] if tapes else None)

    async def _with_further_calls(self, one: Passed, verified: Tape | None) -> TapedCalls | CaseProof:
        """Tapes of calls made now, the first of which may agree with that of a verified call."""
        calls, other = None, verified
        seed = self._draws.number(one.case.name)
        async with self._lab.at(one.case, poison=_POISONS[0], seed=seed) as session:
            for number, poison in enumerate(_POISONS):
                if number:
                    seed = self._draws.number(one.case.name)
                content = CallContent(seed=seed) if number else None
                tape = await self._taped(session, poison=poison, content=content)
                if isinstance(tape, CaseProof):
                    return tape
                if other is not None:
                    calls = TapedCalls(tape=tape, seed=seed, other=other, agreed=self._agreement(other, tape))
                    if calls.agreed.difference is Disagreement.NONE:
                        return calls
                other = tape
        assert calls is not None  # several calls were made
        return calls

    def _is_called_again(self) -> bool:
        """Whether a case gets a further call, drawn so that a candidate that counts its calls cannot know the last."""
        return len(self._lab.passed) <= _FEW_CASES or self._draws.number("again", bits=_BITS_OF_AGAIN) == 0

    def _agreement(self, one: Tape, other: Tape) -> Agreement:
        """How two tapes differ; the kernels of a random operator may get other seeds in each call."""
        is_random = self._lab.problem.determinism is Determinism.RANDOM
        return agreement(one, other, seeds_differ=is_random)

    async def _taped(self, session: CaseSession, *, poison: int, content: CallContent | None) -> Tape | CaseProof:
        name = session.case.name
        path = session.outputs.with_suffix(".tape")
        kills = self._lab.session.kills
        called = await session.make(poison=poison, content=content, tape=path)
        trouble = getattr(called, "trouble", "")
        if trouble and self._lab.session.kills > kills:
            raise EngineError(trouble)
        if trouble:
            return CaseProof(case=name, gap=Gap.UNSTEADY, reason=f"another call of this case failed: {trouble}")
        try:
            tape = await asyncio.to_thread(_read, path)
        except (UntrustedFileError, WireError) as error:
            return CaseProof(case=name, gap=Gap.UNSUPPORTED, reason=f"the worker's tape cannot be read: {error}")
        if tape.incomplete:
            return CaseProof(case=name, gap=Gap.UNSUPPORTED, reason=f"not recorded: {tape.incomplete}")
        return tape


def _verified_tapes(one: Passed) -> list[Tape]:
    """The tapes of verified calls, but those lost with their worker, unreadable, or incomplete."""
    tapes = []
    for path in one.tapes:
        with contextlib.suppress(UntrustedFileError, WireError):
            tapes.append(_read(path))
    return [tape for tape in tapes if not tape.incomplete]


def _read(path: Path) -> Tape:
    try:
        return read_tape(read_untrusted(path, max_bytes=MOST_TAPE_BYTES))
    finally:
        path.unlink(missing_ok=True)
