"""Every error that crosses a module boundary, with whose fault it is.

KgtuiError
  |- UsageError          the request cannot be carried out: the message has the next step
  |- CandidateError      the candidate is at fault: becomes an outcome, never a traceback
  |- UnsupportedError    this machine or version cannot do it: the message names what is missing
  |- StoreError          the session store: locked, corrupt, newer, read-only or full
  '- EngineError         ours: never counts against a candidate
       |- ReferenceFaultError  the reference of a foreign suite's problem failed: the problem's fault
       |- ChildDiedError     a child process ended without a reply
       |   |- KilledError    a signal from outside ended it, or the system when memory ran out
       |   '- RunMemoryError the system ended it because its run used too much memory in total
       |- EngineLostError    the process that starts all children ended, and they with it
       |- DeadlineError      a child process did not reply within its time limit
       |- MachineBusyError   a child process got hardly any CPU time
       '- WireError          a child process sent a line that is not a reply
"""

from __future__ import annotations


class KgtuiError(Exception):
    """The root; its message is one or two sentences with the next step for the user."""


class UsageError(KgtuiError):
    """The request cannot be carried out as typed; the message has the next step."""


class CandidateError(KgtuiError):
    """The candidate's text or behaviour is at fault."""


class UnsupportedError(KgtuiError):
    """A request for something that does not exist on this machine or in this version."""


class StoreError(KgtuiError):
    """The session store could not be opened or written."""


class EngineError(KgtuiError):
    """A fault of kgtui itself or of its trusted processes."""


class ReferenceFaultError(EngineError):
    """The reference of a foreign problem failed, hung or sent an invalid reply; never the fault of a candidate."""


class ChildDiedError(EngineError):
    """A child process ended without replying."""


class RunMemoryError(ChildDiedError):
    """The kernel ended a child process because all processes of its run used too much memory together."""


class KilledError(ChildDiedError):
    """A signal from outside ended a child process, or the system did when memory ran out."""


class EngineLostError(EngineError):
    """The process that starts all children ended, and they with it; this is not a fault of the candidate."""


class DeadlineError(EngineError):
    """A child process did not reply within its time limit; `slept` is whether it slept for most of it."""

    def __init__(self, message: str, *, slept: bool = False) -> None:
        super().__init__(message)
        self.slept = slept


class MachineBusyError(EngineError):
    """Other processes left a child process hardly any CPU time, which is not evidence about it."""


class WireError(EngineError):
    """A child process sent a line that is not the reply to the command in flight."""


def is_no_evidence(error: EngineError) -> bool:
    """Whether an error is not evidence about the candidate: it was killed from outside, or the engine failed.

    Such a step is repeated once by another process: a candidate that ends itself does so again.
    """
    return isinstance(error, KilledError) or not isinstance(error, ChildDiedError | DeadlineError | WireError)
