"""The lines of the wire: every command and reply, encoded as one JSON object and decoded strictly."""

from __future__ import annotations

import secrets
from typing import TypeAlias

import msgspec

from engine.errors import WireError
from engine.protocol.compiling import (
    BuildLauncher,
    Compile,
    Compiled,
    DescribeCompiled,
    Disassemble,
    DryRunDone,
    RunDry,
    WarmUp,
)
from engine.protocol.device_trace import Record, Recorded
from engine.protocol.extensions import BuildExtension, ExtensionBuilt
from engine.protocol.input_variants import LayOutVariant, PrepareVariant, VariantLaidOut
from engine.protocol.launches import require_small_enough
from engine.protocol.messages import Done, Message
from engine.protocol.monitoring import Observe, Observed
from engine.protocol.probes.precision import MeasurePrecision, PrecisionMeasured
from engine.protocol.probes.probing import CorrectCounted, CountCorrect
from engine.protocol.probes.repeating import CompareReading, OutputsRepeated, ReadingCompared, RepeatOutputs
from engine.protocol.proof.binaries import BinaryBuilt, BuildBinary, HoldBinary
from engine.protocol.proof.replaying import (
    CheckMemory,
    DropKernels,
    HoldKernel,
    LimitReading,
    Lower,
    Lowered,
    MemoryChecked,
    ReplayTape,
    TapeReplayed,
    TapeSlot,
    TimeTape,
)
from engine.protocol.sanitizing import Sanitize, Sanitized
from engine.protocol.timing import (
    Arrange,
    Arranged,
    Check,
    Checked,
    CloseSlots,
    Collect,
    Fetch,
    FreeSlots,
    MeasurePeaks,
    OpenSlots,
    PeaksMeasured,
    PrepareBaseline,
    Refresh,
    TimeBaseline,
    TimeCalls,
    Timed,
)
from engine.protocol.verifying import (
    AttachReference,
    Audited,
    AuditProblem,
    Call,
    Called,
    Compare,
    Compared,
    CompareSnapshot,
    Describe,
    Described,
    Failed,
    Load,
    Loaded,
    MemoryShared,
    OpenMemory,
    Prepare,
    Prepared,
    Ready,
    ReferenceAttached,
    Refill,
    Release,
    Released,
    ShareMemory,
    TakeSnapshot,
)

MAX_LINE_BYTES = 4 << 20
"""A longer line is an error of its sender."""

AnyCommand: TypeAlias = (
    ShareMemory | OpenMemory | Load | Call | Prepare | Describe | Refill | Compare | TakeSnapshot | CompareSnapshot
    | Release | RunDry | Compile | BuildLauncher | Disassemble | Arrange | Refresh | Check | PrepareBaseline
    | TimeBaseline | MeasurePeaks | FreeSlots | OpenSlots | Fetch | TimeCalls | Collect | CloseSlots | Observe
    | CountCorrect | RepeatOutputs | CompareReading | MeasurePrecision | Record | LayOutVariant | PrepareVariant
    | Lower | DescribeCompiled | LimitReading | HoldKernel | DropKernels | ReplayTape | AttachReference | AuditProblem
    | BuildExtension | TapeSlot | TimeTape | BuildBinary | HoldBinary | Sanitize | WarmUp | CheckMemory
)  # fmt: skip
AnyReply: TypeAlias = (
    Ready | Done | MemoryShared | Loaded | Prepared | Described | Called | Compared | Released | DryRunDone | Compiled
    | Arranged | Checked | Timed | PeaksMeasured | Observed | Recorded | CorrectCounted | OutputsRepeated
    | ReadingCompared | PrecisionMeasured | VariantLaidOut | Failed | Lowered | TapeReplayed | ReferenceAttached
    | Audited | ExtensionBuilt | BinaryBuilt | Sanitized | MemoryChecked
)  # fmt: skip


class _Addressed(msgspec.Struct):
    """A command of which only the id is decoded."""

    id: str


_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_replies: msgspec.json.Decoder[AnyReply] = msgspec.json.Decoder(AnyReply)
_addresses: msgspec.json.Decoder[_Addressed] = msgspec.json.Decoder(_Addressed)
_NOISE = (msgspec.MsgspecError, ValueError, RecursionError)  # text that is not UTF-8 raises a ValueError


def new_id() -> str:
    """128 random bits in hexadecimal: only a process that has read the command can reply to it."""
    return secrets.token_hex(16)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return msgspec.json.encode(message) + b"\n"


def decode_command(line: bytes) -> AnyCommand:
    """The command on this line.

    Raises:
        WireError: the line is not a valid command.
    """
    try:
        return _commands.decode(line)
    except _NOISE as error:
        raise WireError(f"not a command: {error}") from error


def id_of(line: bytes) -> str:
    """The id on a line that is not a valid command; "" if there is none, which matches no request."""
    try:
        return _addresses.decode(line).id
    except _NOISE:
        return ""


def decode_reply(line: bytes) -> AnyReply:
    """The reply on this line.

    Raises:
        WireError: the line is not a valid reply.
    """
    try:
        reply = _replies.decode(line)
        _require_small_enough(reply)
    except _NOISE as error:
        raise WireError(f"not a reply: {error}") from error
    return reply


def _require_small_enough(reply: AnyReply) -> None:
    match reply:
        case Called():
            require_small_enough(reply.launches)
        case Failed():
            require_small_enough(reply.launches, reply.out_of_bounds)
        case MemoryChecked():
            require_small_enough((), reply.out_of_bounds)
        case DryRunDone():
            require_small_enough((*(met.launch for met in reply.launches), *(met.launch for met in reply.keyed)))
