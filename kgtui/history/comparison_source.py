"""A run as one side of a comparison, read from the store: its events through the same code as live ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgtui.state.compare.sides import Side

if TYPE_CHECKING:
    from sessions import Browser


def read_side(store: Browser, number: int) -> Side:
    """Run `number` with its source, its neighbouring runs, and the model's answer with its source.

    Raises:
        UsageError: there is no such run.
        StoreError: the store cannot be read.
    """
    run = store.run(number)
    return Side(
        run=run,
        view=store.run_record(number),
        source=store.source(run.digest),
        environment=store.environment(run.session),
        answer=store.answer(number),
    )
