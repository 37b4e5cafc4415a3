"""The part of a tape that its outputs need: steps that reach no output are left out, so that they decide nothing.

What remains is replayed, so it is evidence by itself, whatever was left out.  Pure: imports neither numpy nor the
machine, so that the parent can import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from engine.protocol.proof.tape import Addressed, Filled, Given, Launched, LookedUp, Moved, Step, Tape
from engine.replay.checks import views_of


def needed_part(tape: Tape) -> Tape:
    """The tape without the steps and specialisations that no output comes from; storages keep their numbers.

    Outputs are returned values and arguments of the call.  A launch may read and write all memory that it gets, and
    that of the addresses in tables that it gets.  A tape that contradicts itself is returned as it is.
    """
    needed = {number for number, storage in enumerate(tape.storages) if storage.argument is not None}
    needed |= {view.storage for view in tape.returned if view is not None}
    reached = _reached(tape.steps)
    found = []
    for number in reversed(range(len(tape.steps))):
        step = tape.steps[number]
        match step:
            case Given() | Addressed():
                is_needed = step.storage in needed
                needed.discard(step.storage)  # all of it is replaced
            case Filled() | Moved() | LookedUp():
                is_needed = step.target.storage in needed
            case Launched():
                is_needed = not needed.isdisjoint(reached[number])
        if is_needed:
            found.append(step)
            needed |= _read(step) | reached.get(number, frozenset())
    return _with(tape, tuple(reversed(found)))


def _reached(steps: Iterable[Step]) -> dict[int, frozenset[int]]:
    """The storages that each launch may access, by the number of its step: also those whose addresses it gets."""
    tables: dict[int, set[int]] = {}  # by storage: the storages whose addresses it may hold
    reached = {}
    for number, step in enumerate(steps):
        used = _read(step)
        addressed = _addressed(tables, used)
        match step:
            case Addressed():
                tables[step.storage] = {word.storage for word in step.words if not isinstance(word, int)}
            case Launched():
                reached[number] = frozenset(used | addressed)
                targets = used if addressed else ()
                tables.update({storage: addressed | tables.get(storage, set()) for storage in targets})
            case Moved() | LookedUp() if addressed:
                tables[step.target.storage] = addressed | tables.get(step.target.storage, set())
    return reached


def _addressed(tables: Mapping[int, set[int]], used: Iterable[int]) -> set[int]:
    """The storages whose addresses are in tables of `used`, or in tables that these lead to."""
    found: set[int] = set()
    following = {place for storage in used for place in tables.get(storage, ())}
    while following:
        found |= following
        following = {place for storage in following for place in tables.get(storage, ())} - found
    return found


def _read(step: Step) -> set[int]:
    """The storages that a step views, or that an operator took."""
    return set(step.reads) if isinstance(step, Given) else {view.storage for view in views_of(step)}


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
    used = {view.storage for view in tape.returned if view is not None}
    for step in steps:
        used |= _read(step)
        if isinstance(step, Given | Addressed):
            used.add(step.storage)
        if isinstance(step, Addressed):
            used.update(word.storage for word in step.words if not isinstance(word, int))
    return used
