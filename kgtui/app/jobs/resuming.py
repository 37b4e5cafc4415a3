"""The order that continues a stored batch: the same request, operators and budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.devices import platform_named
from engine.errors import UsageError
from kgtui.generation.batch import DEFAULT_CONCURRENCY, GenerationRequest, Task
from kgtui.generation.carrying_out import GenerationOrder
from kgtui.generation.replying import conversation
from sessions.candidates.generation_rows import Ending

if TYPE_CHECKING:
    from kgtui.generation.carrying_out import GenerationRecording
    from kgtui.generation.prompts import Prompts
    from kgtui.generation.records import Message
    from kgtui.screens.base.host import Host
    from sessions.candidates.generation_rows import BatchRow, GenerationRow


def rest_of(batch: BatchRow, host: Host, *, device: str) -> GenerationOrder:
    """The order that continues this batch on the device of the workbench.

    Raises:
        UsageError: its budget is used up, it is of a suite or for another device, or an operator no longer exists.
        StoreError: another version of kgtui wrote it.
    """
    request = GenerationRequest.from_json(batch.request)
    if batch.ending is Ending.BUDGET:
        raise UsageError(
            f"batch {batch.id} reached its budget: repeat its `kgtui generate` with a higher --budget and --resume"
        )
    if request.suites:
        raise UsageError("a batch of a suite is resumed by its `kgtui generate --suite PATH ...` with --resume")
    if request.device != device:
        raise UsageError(
            f"batch {batch.id} is verified on {request.device}, this workbench runs on {device}: "
            f"start `kgtui --device {request.device}` to resume it"
        )
    return GenerationOrder(
        request=request,
        tasks=tuple(_task(name, host) for name in request.operators),
        limits=batch.limits,
        device=platform_named(device).detect()[0],
        concurrency=DEFAULT_CONCURRENCY,
        resume=True,
    )


def with_conversation(order: GenerationOrder, recording: GenerationRecording, *, prompts: Prompts) -> GenerationOrder:
    """The order of a reply with the conversation that it continues; any other order unchanged.

    Raises:
        UsageError: the answer that it replies to was deleted.
        StoreError: it cannot be read.
    """
    request = order.request
    if request.continues is None:
        return order
    (task,) = order.tasks
    rows = recording.generations.of_problem(task.problem.name)
    row = next((one for one in rows if one.id == request.continues), None)
    if row is None:
        raise UsageError(f"the answer that this batch replies to is not in the store any more: {task.problem.name}")
    messages = reply_messages(row, recording, remark=request.options.remark, prompts=prompts)
    return replace(order, tasks=(replace(task, conversation=messages),))


def reply_messages(
    row: GenerationRow, recording: GenerationRecording, *, remark: str, prompts: Prompts
) -> tuple[Message, ...]:
    """A stored answer with the report of its run and a remark, as messages for its model.

    Raises:
        StoreError: the answer or its run cannot be read.
    """
    has_verdict = row.run is not None and row.run.outcome is not None
    run = recording.run_record(row.run.number) if row.run is not None and has_verdict else None
    return conversation(row, run, remark=remark, prompts=prompts)


def _task(name: str, host: Host) -> Task:
    problem = host.problem_named(name)
    description = next((one for one in host.problems if one.name == name), None)
    if problem is None or description is None:
        raise UsageError(f"this batch generates for {name}, which is not an operator here, so it cannot be resumed")
    return Task(problem=problem, description=description)
