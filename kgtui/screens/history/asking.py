"""Questions of the History screen to the user and to the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from engine.errors import StoreError, UsageError
from kgtui.history.store_admin import StoreAdmin
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.widgets.controls.ask import Answer, Ask

T = TypeVar("T")


def ask_user(
    screen: KgtuiScreen, subject: str, question: str, answer: Answer, *, answered: Callable[[str], None]
) -> None:
    """Ask a question with one answer besides cancelling."""
    screen.app.clear_notifications()  # they would cover the question
    screen.query_one(Ask).ask(subject, question, (answer,), answered=answered)


async def ask_store(screen: KgtuiScreen, question: Callable[[StoreAdmin], T]) -> T | None:
    """The result of a store query; None, and a message, if it failed."""
    try:
        return await screen.host.run_history.ask(question)
    except (UsageError, StoreError) as error:
        screen.notify(str(error), severity="error", markup=False)
        return None
