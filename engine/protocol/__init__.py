"""What parent and children say to each other: one JSON object a line, strictly typed.

The parent writes commands, a child writes replies; each reply carries the random id of the command
that it answers.  Nothing here is ever unpickled, and a line that does not fit its type is an error
of the child that sent it, never a guess.
"""

from __future__ import annotations

import secrets
from typing import TypeAlias

import msgspec

from engine.errors import WireError
from engine.protocol.compiling import (
    BuildLauncher,
    Compile,
    Compiled,
    Disassemble,
    Rehearse,
    Rehearsed,
    SuppressedLaunch,
)
from engine.protocol.device_trace import (
    MOST_ACTIVITIES,
    ActivityKind,
    ActivitySeen,
    NodeSeen,
    Record,
    Recorded,
)
from engine.protocol.input_variants import Foresee, Variant, Varied, Vary
from engine.protocol.launches import MOST_LAUNCHES, refuse_immense
from engine.protocol.messages import (
    CaseCommand,
    Command,
    ComplexSpec,
    Count,
    Done,
    DTypeSpec,
    FloatSpec,
    Message,
    PointersSpec,
    Reply,
    Returned,
    ReturnedSpec,
    ScalarSpec,
    SequenceSpec,
    StorageSpec,
    TensorSpec,
    ValueSpec,
)
from engine.protocol.monitoring import (
    ChangeKind,
    ChangeSeen,
    DeedKind,
    DeedSeen,
    Observe,
    Observed,
    OperatorKind,
    OperatorSeen,
)
from engine.protocol.precision import Gauge, Gauged, Gauging
from engine.protocol.probing import (
    MOST_KERNELS,
    Kernel,
    Survival,
    Weigh,
    Weighed,
    Withheld,
    Withhold,
)
from engine.protocol.repeating import (
    Access,
    Contrast,
    Contrasted,
    Difference,
    Disorder,
    Meeting,
    Recall,
    Recalled,
    Watch,
)
from engine.protocol.timing import (
    Arrange,
    Arranged,
    CallTime,
    Check,
    Checked,
    Collect,
    Disband,
    Fetch,
    How,
    KernelTime,
    MeasurePeaks,
    Occupy,
    PeaksMeasured,
    PrepareBaseline,
    Refresh,
    SlotLayout,
    TimeBaseline,
    TimeCalls,
    Timed,
    Vacate,
)
from engine.protocol.verifying import (
    Again,
    ArenaSpec,
    Borrow,
    Call,
    Called,
    Compare,
    Compared,
    Conclude,
    Describe,
    Described,
    Failed,
    FailureKind,
    Lend,
    Lent,
    Load,
    Loaded,
    Prepare,
    Prepared,
    Ready,
    Refill,
    Release,
    Released,
    Shape,
    Take,
)

__all__ = [
    "MAX_LINE_BYTES", "MOST_ACTIVITIES", "MOST_KERNELS", "MOST_LAUNCHES", "Access", "ActivityKind", "ActivitySeen",
    "Again", "AnyCommand", "AnyReply", "ArenaSpec", "Arrange", "Arranged", "Borrow", "BuildLauncher", "Call",
    "CallTime", "Called", "CaseCommand", "ChangeKind", "ChangeSeen", "Check", "Checked", "Collect", "Command",
    "Compare", "Compared", "Compile", "Compiled", "ComplexSpec", "Conclude", "Contrast", "Contrasted", "Count",
    "DTypeSpec", "DeedKind", "DeedSeen", "Describe", "Described", "Difference", "Disassemble", "Disband", "Disorder",
    "Done", "Failed", "FailureKind", "Fetch", "FloatSpec", "Foresee", "Gauge", "Gauged", "Gauging", "How", "Kernel",
    "KernelTime", "Lend", "Lent", "Load", "Loaded", "MeasurePeaks", "Meeting", "Message", "NodeSeen", "Observe",
    "Observed", "Occupy", "OperatorKind", "OperatorSeen", "PeaksMeasured", "PointersSpec", "Prepare", "PrepareBaseline",
    "Prepared", "Ready", "Recall", "Recalled", "Record", "Recorded", "Refill", "Refresh", "Rehearse", "Rehearsed",
    "Release", "Released", "Reply", "Returned", "ReturnedSpec", "ScalarSpec", "SequenceSpec", "Shape", "SlotLayout",
    "StorageSpec", "SuppressedLaunch", "Survival", "Take", "TensorSpec", "TimeBaseline", "TimeCalls", "Timed", "Vacate",
    "ValueSpec", "Variant", "Varied", "Vary", "Watch", "Weigh", "Weighed", "Withheld", "Withhold", "decode_command",
    "decode_reply", "encode", "id_of", "new_id",
]  # fmt: skip

MAX_LINE_BYTES = 4 << 20

AnyCommand: TypeAlias = (
    Lend | Borrow | Load | Call | Prepare | Describe | Refill | Compare | Take | Conclude | Release | Rehearse
    | Compile | BuildLauncher | Disassemble | Arrange | Refresh | Check | PrepareBaseline | TimeBaseline
    | MeasurePeaks | Disband | Occupy | Fetch | TimeCalls | Collect | Vacate | Observe | Weigh | Recall | Contrast
    | Gauge | Record | Vary | Foresee
)  # fmt: skip
AnyReply: TypeAlias = (
    Ready | Done | Lent | Loaded | Prepared | Described | Called | Compared | Released | Rehearsed | Compiled | Arranged
    | Checked | Timed | PeaksMeasured | Observed | Recorded | Weighed | Recalled | Contrasted | Gauged
    | Varied | Failed
)  # fmt: skip


class _Addressed(msgspec.Struct):
    """What is left of a command when all but its id is passed over."""

    id: str


_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_replies: msgspec.json.Decoder[AnyReply] = msgspec.json.Decoder(AnyReply)
_addresses: msgspec.json.Decoder[_Addressed] = msgspec.json.Decoder(_Addressed)
_NOISE = (msgspec.MsgspecError, ValueError, RecursionError)  # text that is no UTF-8 is a ValueError


def new_id() -> str:
    """128 random bits in hexadecimal: nobody who has not read the command can answer it."""
    return secrets.token_hex(16)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return msgspec.json.encode(message) + b"\n"


def decode_command(line: bytes) -> AnyCommand:
    """The command on this line.

    Raises:
        WireError: it is none.
    """
    try:
        return _commands.decode(line)
    except _NOISE as error:
        raise WireError(f"not a command: {error}") from error


def id_of(line: bytes) -> str:
    """The id on a line that is no command otherwise; "" when there is none, which answers nobody."""
    try:
        return _addresses.decode(line).id
    except _NOISE:
        return ""


def decode_reply(line: bytes) -> AnyReply:
    """The reply on this line.

    Raises:
        WireError: it is none.
    """
    try:
        reply = _replies.decode(line)
        _refuse_immense(reply)
    except _NOISE as error:
        raise WireError(f"not a reply: {error}") from error
    return reply


def _refuse_immense(reply: AnyReply) -> None:
    match reply:
        case Called():
            refuse_immense(reply.launches)
        case Failed():
            refuse_immense(reply.launches, reply.out_of_bounds)
        case Rehearsed():
            refuse_immense(met.launch for met in reply.launches)
