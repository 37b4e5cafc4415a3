"""Calls of a right candidate on unusual content; the judge computes the expected answers.

The parent's side of `engine.judge.probing.input_variants`.  One case at a time, in the session that laid it out.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from engine import protocol
from engine.errors import EngineError
from engine.model import Outcome
from engine.probes.lab.case_session import CaseSession
from engine.processes.judge_requests import reason_in

_POISON = 0x7B
_LARGER = (protocol.Variant.SCALED, protocol.Variant.LARGE)
_ITS_OWN_FAULT = (protocol.FailureKind.RAISED, protocol.FailureKind.EXITED, protocol.FailureKind.OUT_OF_BOUNDS)


@dataclass(frozen=True, kw_only=True)
class VariantResult:
    """The result of one variant: right unless a field says otherwise.

    `dismissed` is why the variant cannot decide, in which case no call was made; `wrong` the error of the output;
    `trouble` the reason why there is no output.  `overflows` is whether all wrong elements are infinities and NaN where
    values are larger than usual.  `changed` is the one changed element, `kept` names the tensors that no variant
    changes.
    """

    variant: protocol.Variant
    dismissed: str = ""
    wrong: str = ""
    trouble: str = ""
    overflows: bool = False
    changed: str = ""
    kept: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether the candidate was called, and right."""
        return not (self.dismissed or self.wrong or self.trouble)


class VariantCaller:
    """Calls a candidate on variants of one case, one after another; `close` when there are no more."""

    def __init__(self, session: CaseSession) -> None:
        self._session = session
        self._arena = session.prepared.arena
        self._moved: list[Path] = []

    async def call(self, variant: protocol.Variant, *, then: protocol.Variant | None = None) -> VariantResult:
        """Lay out the variant and call the candidate on it, while the judge makes the variant `then`.

        Raises:
            EngineError: the judge failed.
        """
        lab, session = self._session.lab, self._session
        varied = await lab.process_pool.ask_judge(
            protocol.LayOutVariant(
                id=protocol.new_id(),
                variant=variant,
                poison=_POISON,
                arena_path=self._elsewhere(variant),
                place=lab.place,
            )
        )
        if not isinstance(varied, protocol.VariantLaidOut):
            raise EngineError(f"the judge could not make {variant} of {session.case.name}{reason_in(varied)}")
        if varied.dismissed:
            return VariantResult(variant=variant, dismissed=varied.dismissed, kept=varied.kept)
        self._arena = varied.arena
        command = protocol.Call(
            id=protocol.new_id(),
            case=session.case.name,
            arguments=session.prepared.arguments,
            arena=self._arena,
            outputs=str(session.outputs),
            max_output_bytes=lab.limits.output_bytes,
            poison=_POISON,
        )
        wrong, overflows, trouble = "", False, ""
        called = await self._called(command, then)
        if isinstance(called, EngineError):
            trouble = str(called)
        elif isinstance(called, protocol.Called):
            wrong, overflows = await self._compared(called)
        elif isinstance(called, protocol.Failed):
            wrong, trouble = _of_failure(called)
            if called.broken:
                await lab.renew()
        else:
            trouble = f"a call was answered with {type(called).__name__}"
        return VariantResult(
            variant=variant, wrong=wrong, trouble=trouble, overflows=overflows and variant in _LARGER,
            changed=varied.changed, kept=varied.kept,
        )  # fmt: skip

    async def _called(self, command: protocol.Call, then: protocol.Variant | None) -> protocol.AnyReply | EngineError:
        """The worker's reply to a call, or the error; during the call the judge makes the next variant.

        Raises:
            EngineError: the judge failed.
        """
        lab = self._session.lab
        with lab.profile.span("probe"):
            called, prepared_variant = await asyncio.gather(
                lab.ask(command), self._prepare_variant(then), return_exceptions=True
            )
        if isinstance(prepared_variant, BaseException):
            raise prepared_variant
        if isinstance(called, BaseException) and not isinstance(called, EngineError):
            raise called
        return called

    async def _prepare_variant(self, variant: protocol.Variant | None) -> None:
        """Make or dismiss a variant that could not be made ahead, on its first use."""
        lab = self._session.lab
        if variant is not None and variant is not protocol.Variant.MOVED:
            await lab.process_pool.ask_judge(
                protocol.PrepareVariant(id=protocol.new_id(), variant=variant, place=lab.place)
            )

    def close(self) -> None:
        """Delete the files that content was moved to."""
        for path in self._moved:
            with contextlib.suppress(OSError):
                path.unlink()

    def _elsewhere(self, variant: protocol.Variant) -> str | None:
        """A new file for content that is moved; None if it is in device memory, or not moved."""
        if variant is not protocol.Variant.MOVED or self._arena.handle:
            return None
        path = self._session.outputs.with_name(f"{secrets.token_hex(8)}.in")
        self._moved.append(path)
        return str(path)

    async def _compared(self, called: protocol.Called) -> tuple[str, bool]:
        """Error in the answer, "" if it is right, and whether every wrong element is an infinity or NaN."""
        lab = self._session.lab
        compared = await lab.process_pool.ask_judge(
            protocol.Compare(
                id=protocol.new_id(),
                outputs=str(self._session.outputs),
                max_output_bytes=lab.limits.output_bytes,
                returned=called.returned,
                explain=False,
                place=lab.place,
            )
        )
        if isinstance(compared, protocol.Failed) and compared.kind is protocol.FailureKind.TAMPERED:
            return compared.message, False
        if not isinstance(compared, protocol.Compared):
            raise EngineError(f"the judge could not compare outputs of {self._session.case.name}{reason_in(compared)}")
        wrong = [report for report in compared.reports if report.outcome is not Outcome.PASS]
        if wrong:
            overflows = all(0 < report.mismatched == report.nonfinite_got for report in wrong)
            return wrong[0].message or str(wrong[0].outcome), overflows and not compared.mutated
        return compared.mutated or "", False


def _of_failure(failed: protocol.Failed) -> tuple[str, str]:
    """The error if only the candidate can have caused it; else a cause outside of it."""
    if failed.kind in _ITS_OWN_FAULT and not failed.broken:
        return f"it failed: {failed.message}", ""
    return "", failed.message
