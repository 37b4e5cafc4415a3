"""Prompts from templates: Jinja2 files here, each replaceable by a file of the same name in the user's folder.

Pure functions from records to text; a template gets exactly the names that its function passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from engine.model import Case, Outcome, Problem
from engine.problem_source import ProblemDescription
from engine.reports.markdown import as_markdown
from engine.reports.run_record import RunRecord
from kgtui.generation.records import Message, Role

FOLDER = Path(__file__).parent
SUFFIX = ".md.j2"
MOST_FEEDBACK_CHARACTERS = 12_000
MOST_REFERENCE_CHARACTERS = 40_000
_MOST_CASES = 80
_BACKTICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Hardware that kernels are written for; `target` is None if nothing is compiled."""

    name: str
    target: str | None


@dataclass(frozen=True, kw_only=True)
class Example:
    """A correct kernel for another operator, shown before the task."""

    problem: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Parent:
    """An earlier candidate that a mutation starts from, and the findings of its run."""

    source: str
    feedback: str


@dataclass(frozen=True, kw_only=True)
class ShownFile:
    """A file of a suite in a prompt; `text` is empty if it is too long, `fence` encloses it in Markdown."""

    name: str
    text: str
    fence: str


class Prompts:
    """The templates; `folder` is that of the user's own templates, which may not exist."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def problem(
        self,
        problem: Problem,
        description: ProblemDescription,
        hardware: Hardware,
        *,
        examples: Sequence[Example] = (),
        remark: str = "",
    ) -> tuple[Message, ...]:
        """Messages that request a first kernel; `remark` is the user's addition.

        A problem of a foreign suite has a separate template, which shows the suite's reference.
        """
        text = self._render(
            "problem" if problem.suite is None else "suite",
            problem=problem,
            description=description,
            hardware=hardware,
            cases=problem.cases[:_MOST_CASES],
            more_cases=max(0, len(problem.cases) - _MOST_CASES),
            parameters=_parameters,
            tolerance=problem.tolerance,
            examples=tuple(examples),
            remark=remark,
            files=shown_files(description.reference),
        )
        return (
            Message(role=Role.SYSTEM, text=self._render("system", entry=problem.entry)),
            Message(role=Role.USER, text=text),
        )

    def feedback(self, run: RunRecord | None, *, extraction: str, remark: str = "") -> str:
        """Message after an attempt: the reason why no code was taken, or the result of its run."""
        report = feedback_of(run) if run is not None else ""
        return self._render("feedback", report=report, passed=_passed(run), extraction=extraction, remark=remark)

    def mutation(self, parents: Sequence[Parent]) -> str:
        """Request for a kernel better than these parents."""
        return self._render("mutation", parents=tuple(parents))

    def _render(self, name: str, **values: object) -> str:
        import jinja2

        folders = [folder for folder in (self._folder, FOLDER) if folder is not None]
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            autoescape=False,  # prompts are Markdown for a model, never HTML
        )
        try:
            return environment.get_template(f"{name}{SUFFIX}").render(values).strip() + "\n"
        except jinja2.TemplateError as error:
            where = f" line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
            raise UsageError(f"prompt template {name}{SUFFIX}{where}: {error}; correct it, or remove it") from error


def shown_files(files: Mapping[str, str]) -> tuple[ShownFile, ...]:
    """The files for a prompt: the first in full, the others as long as the total stays below the limit."""
    shown: list[ShownFile] = []
    total = 0
    for name, text in files.items():
        total += len(text)
        is_whole = not shown or total <= MOST_REFERENCE_CHARACTERS
        shown.append(ShownFile(name=name, text=text.strip("\n") if is_whole else "", fence=_fence(text)))
    return tuple(shown)


def _fence(text: str) -> str:
    """A code fence longer than every fence in the text."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def prompt_text(messages: Sequence[Message]) -> str:
    """Messages as readable text."""
    return "\n".join(f"# {message.role.value}\n\n{message.text}" for message in messages)


def feedback_of(run: RunRecord) -> str:
    """Result of a run for a model, as Markdown of limited length."""
    text = as_markdown(run, with_passed_cases=False)
    if len(text) <= MOST_FEEDBACK_CHARACTERS:
        return text
    return f"{text[:MOST_FEEDBACK_CHARACTERS]}\n\n(the rest of the report is left out)\n"


def _passed(run: RunRecord | None) -> bool:
    verdict = run.verdict if run is not None else None
    return verdict is not None and verdict.outcome is Outcome.PASS and not verdict.flagged


def _parameters(case: Case) -> str:
    return ", ".join(f"{name}={value}" for name, value in case.params.items())
