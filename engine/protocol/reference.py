"""Messages between judge and reference process: a line of JSON, then the bytes of the tensors.

The reference process runs a foreign suite's own code, so its replies are untrusted: lines and bytes have limits, and
every tensor is checked against its bytes before it is made.  Each side works on its own copy of the bytes.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from engine.model.problems.suite_origin import Precision
from engine.protocol.messages import Count, Message, Text, ValueSpec
from engine.protocol.timing import TimeBaseline, Timed
from engine.protocol.verifying import Failed

QUESTIONS, ANSWERS, WINDOW = "questions", "answers", "window"
"""Names of the two pipes in the folder of a reference process, and of the file that large tensors pass through."""
MOST_HEAD_BYTES = 8 << 20


class OpenTask(Message, tag_field="type", tag="open", frozen=True):
    """Write these files, import `file` of them, and keep the task for later requests.

    `harness` is the module for the format, `details` is its input; all further code is the suite's.
    """

    harness: str
    file: str
    files: dict[str, str]
    details: dict[str, str]


class WriteFile(Message, tag_field="type", tag="write_file", frozen=True):
    """Append the bytes that follow to this file of the task, which is opened afterwards."""

    name: str
    bytes: Count


class Draw(Message, tag_field="type", tag="draw", frozen=True):
    """Make the arguments of a call from these seeds: those of the inputs and of the weights are independent.

    `case` is the name of a case of the task; empty for a task with a single one.
    """

    seed: Count
    weight_seed: Count
    case: Text = ""


class Drawn(Message, tag_field="kind", tag="drawn", frozen=True):
    """A storage with bytes of the last Draw, by its number there."""

    number: Count


class Sent(Message, tag_field="kind", tag="sent", frozen=True):
    """A storage of this size, whose bytes follow."""

    bytes: Count


Storage: TypeAlias = Drawn | Sent


class Compute(Message, tag_field="type", tag="compute", frozen=True):
    """Compute the expected outputs for these arguments.

    They are rounded to `dtypes`, one for each output, if given.
    """

    arguments: tuple[ValueSpec, ...]
    storages: tuple[Storage, ...]
    precision: Precision
    dtypes: tuple[Text, ...] = ()


class ApplyOwnRule(Message, tag_field="type", tag="own_rule", frozen=True):
    """Have the task's own code check outputs: two values, the arguments of a call and what it returned."""

    values: tuple[ValueSpec, ...]
    storages: tuple[Storage, ...]


class PrepareTimes(Message, tag_field="type", tag="prepare_times", frozen=True):
    """Draw contents of a case from these pairs of seeds, of inputs and of weights, and call the reference on one."""

    seeds: tuple[tuple[Count, Count], ...]
    case: Text = ""


class TakeTimes(Message, tag_field="type", tag="take_times", frozen=True):
    """Call the prepared reference as the judge would call a baseline."""

    command: TimeBaseline


class ForgetTimes(Message, tag_field="type", tag="forget_times", frozen=True):
    """Free everything that PrepareTimes made."""


class TimesTaken(Message, tag_field="type", tag="times_taken", frozen=True):
    """The reply to the command of TakeTimes."""

    reply: Timed | Failed


class Answered(Message, tag_field="type", tag="answered", frozen=True):
    """The requested values, whose bytes follow; `notes` are the differences between the task and the suite's own run.

    `needed_bytes` is the size of all inputs, weights and outputs as far as it is known before any is made: of every
    case, or by the name of each.
    """

    values: tuple[ValueSpec, ...] = ()
    storages: tuple[Count, ...] = ()
    notes: tuple[Text, ...] = ()
    needed_bytes: Count | dict[Text, Count] | None = None


class CouldNot(Message, tag_field="type", tag="could_not", frozen=True):
    """The suite's code failed or, with `is_unavailable`, does not offer the request."""

    reason: Text
    trace: Text = ""
    is_unavailable: bool = False


Question: TypeAlias = OpenTask | WriteFile | Draw | Compute | ApplyOwnRule | PrepareTimes | TakeTimes | ForgetTimes
Answer: TypeAlias = Answered | TimesTaken | CouldNot

questions: msgspec.json.Decoder[Question] = msgspec.json.Decoder(Question)
answers: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
