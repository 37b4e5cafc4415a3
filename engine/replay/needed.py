"""The part of a tape that its outputs need: steps that reach no output are left out, so that they decide nothing.

What remains is replayed, so it is evidence by itself, whatever was left out.  Pure: imports neither numpy nor the
machine, so that the parent can import it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from engine.protocol.proof.tape import Addressed, Filled, Given, Launched, LookedUp, Moved, Step, Tape
from engine.replay.checks import views_of

_MOST_ROUNDS = 8  # of tables that hold addresses of tables


def needed_part(tape: Tape) -> Tape:
    """The tape without the steps and specialisations that no output comes from; storages keep their numbers.

    Outputs are returned values and arguments of the call.  A launch may write to all memory that it gets, and to that
    of the addresses in tables that are needed.  A tape that contradicts itself is returned as it is.
    """
    outputs = {number for number, storage in enumerate(tape.storages) if storage.argument is not None}
    outputs |= {view.storage for view in tape.returned if view is not None}
    for _ in range(_MOST_ROUNDS):
        steps = _needed_steps(tape.steps, outputs)
        addressed = _addressed(steps)
        if addressed <= outputs:
            return _with(tape, steps)
        outputs |= addressed
    return tape


def _needed_steps(steps: tuple[Step, ...], outputs: Iterable[int]) -> tuple[Step, ...]:
    """The steps that the content of these storages at the end comes from, in their order."""
    needed, found = set(outputs), []
    for step in reversed(steps):
        match step:
            case Given() | Addressed():
                is_needed = step.storage in needed
                needed.discard(step.storage)  # all of it is replaced
            case Filled() | Moved() | LookedUp():
                is_needed = step.target.storage in needed
            case Launched():
                is_needed = any(view.storage in needed for view in views_of(step))
        if is_needed:
            found.append(step)
            needed.update(step.reads if isinstance(step, Given) else (view.storage for view in views_of(step)))
    return tuple(reversed(found))


def _addressed(steps: Iterable[Step]) -> set[int]:
    """The storages whose addresses are in tables of these steps."""
    tables = (step for step in steps if isinstance(step, Addressed))
    return {word.storage for table in tables for word in table.words if not isinstance(word, int)}


def _with(tape: Tape, steps: tuple[Step, ...]) -> Tape:
    """The tape with these of its steps, the specialisations that they launch, and the memory that they use."""
    launched = sorted({step.specialisation for step in steps if isinstance(step, Launched)})
    if len(steps) == len(tape.steps) or (launched and launched[-1] >= len(tape.specialisations)):
        return tape
    place = {number: position for position, number in enumerate(launched)}
    kept = tuple(
        replace(step, specialisation=place[step.specialisation]) if isinstance(step, Launched) else step
        for step in steps
    )
    claims = len(tape.claimed) == len(tape.specialisations)
    used = _used(tape, steps)
    return replace(
        tape,
        storages=tuple(
            storage if number in used or storage.argument is not None else replace(storage, bytes=0)
            for number, storage in enumerate(tape.storages)
        ),
        specialisations=tuple(tape.specialisations[number] for number in launched),
        steps=kept,
        claimed=tuple(tape.claimed[number] for number in launched) if claims else (),
    )


def _used(tape: Tape, steps: Iterable[Step]) -> set[int]:
    """The storages that these steps or the returned values view."""
    used = {view.storage for view in tape.returned if view is not None} | _addressed(steps)
    for step in steps:
        used.update(view.storage for view in views_of(step))
        if isinstance(step, Given):
            used.update((step.storage, *step.reads))
        elif isinstance(step, Addressed):
            used.add(step.storage)
    return used
