"""A question in one line, answered by one key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.content import Content

from kgtui.state.format.lines import Span, Tone
from kgtui.widgets.text.toned import content_of, shortened
from kgtui.widgets.text.tones import Toned


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One way to answer: the key to press and what it does."""

    key: str
    label: str


class Ask(Toned, can_focus=True):
    """A question that has the focus until it is answered; esc changes nothing.

    A question that appears by itself waits without the focus, so that no key typed for the editor answers it.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._subject = ""
        self._question = ""
        self._answers: tuple[Answer, ...] = ()
        self._answered: Callable[[str], None] | None = None
        self._waits = False

    @property
    def subject(self) -> str:
        """Subject of the open question; "" without one."""
        return self._subject

    @property
    def question(self) -> str:
        """The text of the question."""
        return self._question

    @property
    def waits(self) -> bool:
        """Whether a question is open that cannot be answered before the user goes to it."""
        return self._waits

    def ask(
        self,
        subject: str,
        question: str,
        answers: tuple[Answer, ...],
        *,
        answered: Callable[[str], None],
        waits: bool = False,
    ) -> None:
        """Ask the question; `answered` is called with the chosen key, and not called if the question is withdrawn.
        With `waits`, the focus stays where it is until `take_keys`, or until the user focuses the question.
        """
        self._subject, self._question, self._answers, self._answered = subject, question, answers, answered
        self._waits = waits
        self.display = True
        if not waits:
            self.take_keys()
        self.refresh()

    def take_keys(self) -> None:
        """Take the focus: from now on keys answer the question."""
        self.screen.set_focus(self)

    def close(self) -> None:
        """Withdraw the question."""
        self._subject, self._answers, self._answered, self._waits = "", (), None, False
        self.display = False

    def on_focus(self) -> None:
        """Show the answers once the user is at the question."""
        self._waits = False
        self.refresh()

    def render(self) -> Content:
        """The question, cut to the width, and its keys, which are never cut."""
        spans: list[Span] = []
        stay = Answer(key="esc", label="stay")
        for answer in (Answer(key="esc", label="answer"),) if self._waits else (*self._answers, stay):
            spans += [Span("  "), Span(answer.key, Tone.STRONG), Span(f" {answer.label}")]
        keys = content_of(self, tuple(spans))
        room = max(0, self.size.width - keys.cell_length)
        return shortened(self, (Span(f" {self._question}"),), cells=room) + keys

    def on_key(self, event: events.Key) -> None:
        """Answer with one of the offered keys; other keys that would act on the subject have no effect."""
        if event.key in {answer.key for answer in self._answers}:
            event.stop()
            answered = self._answered
            self.close()
            if answered is not None:
                answered(event.key)
        elif event.is_printable or event.key == "enter":
            event.stop()
