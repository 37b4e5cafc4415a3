"""All records of a worker on its candidate: when each is made, and the reply that reports them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from engine.protocol.monitoring import MOST_ACTIONS, MOST_CHANGES, MOST_UNCHECKED, ChangeSeen, Observed
from engine.worker.monitor.operators import torch_hooks
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.monitor.process import planted
from engine.worker.monitor.process.audit import Audit
from engine.worker.monitor.process.process_state_diff import ProcessStateDiff
from engine.worker.taping.recorder import TapeRecorder

_T = TypeVar("_T")
_REASON_CHARACTERS = 500


class Observer:
    """Records the effects of the candidate of this process while it is loaded and in verified calls.

    Created before the candidate is loaded, when all of our own changes to the process are made.
    """

    def __init__(
        self,
        device: torch.device,
        recorder: TapeRecorder | None = None,
    ) -> None:
        self._state = ProcessStateDiff(device)
        self._audit = Audit()
        self._ledger = Ledger(recorder)
        self._unchecked: list[str] = []
        torch_hooks.install_hooks()
        torch_hooks.follow_threads(self._ledger.beside)
        torch_hooks.follow_operators(self._ledger.follow, self._ledger.within)
        self._modules = planted.modules()
        # Done now: after the candidate is loaded it would delay the verdict.
        self._try("the state before loading", self._state.begin, None)

    @contextlib.contextmanager
    def loading(self, path: Path, folder: Path | None) -> Iterator[None]:
        """Context in which the candidate at `path` is loaded, once in the life of the process."""
        self._ledger.filename = str(path)
        self._audit.install(path, folder)
        with self._audit.on(loading=True):
            yield
        self._try("the random numbers", self._state.seeded, None)

    @contextlib.contextmanager
    def calling(self, case: str, arguments: Sequence[object], *, operators: bool) -> Iterator[None]:
        """Context in which the entry is called on these arguments; with `operators` those of torch are recorded, too.

        Its result is read in this context as well: a lazy tensor computes when it is read.
        """
        with self._audit.on(), self._ledger.of_call(case, arguments, notes=operators):
            yield

    def capturing(self) -> contextlib.AbstractContextManager[None]:
        """Context in which a CUDA graph is captured: its operators are reported to the recorder."""
        return self._ledger.of_capture()

    def observed(self, identifier: str) -> Observed:
        """The reply to an Observe of this id."""
        self._unchecked += ["more operators were called than are noted"] if self._ledger.overfull else []
        self._unchecked += ["more was done than is noted"] if self._audit.overfull else []
        changes: tuple[ChangeSeen, ...] = self._try("the changed state", self._state.changes, ())
        imported: tuple[ChangeSeen, ...] = self._try("the imported modules", lambda: planted.changes(self._modules), ())
        changes += (*self._audit.bypasses(), *imported)
        return Observed(
            id=identifier,
            operators=self._ledger.seen(),
            actions=self._audit.seen()[:MOST_ACTIONS],
            changes=changes[:MOST_CHANGES],
            unchecked=tuple(dict.fromkeys(self._unchecked))[:MOST_UNCHECKED],  # every reply finds them again
        )

    def _try(self, what: str, look: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return look()
        except Exception as error:  # a candidate may have replaced the functions used here
            self._unchecked.append(f"{what}: {type(error).__name__}"[:_REASON_CHARACTERS])
            return otherwise
