"""Records of tasks read from a suite, and of the formats that read them; values only."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from engine.model.problems.form import CandidateForm

__all__ = ["CandidateForm", "Closeness", "OwnRule", "RuleKind", "Size", "SuiteContents", "SuiteFormat", "Task"]

Size: TypeAlias = int | tuple[int, ...]
"""A size constant of a task: a number, or the sizes of a shape."""


class RuleKind(enum.StrEnum):
    """Kinds of a suite's own comparison rule.

    ALLCLOSE: every element within `absolute + relative * |expected|`.  MATCHED_RATIO: a share of elements at least
    `least_matched`, where an element fails only if it exceeds both bounds.  DISTANCES: cosine similarity, relative L1
    distance and root mean square error against thresholds.  OWN_CODE: a function of the suite.  PRINTED: equal output
    on stdout.
    """

    ALLCLOSE = "allclose"
    MATCHED_RATIO = "matched_ratio"
    DISTANCES = "distances"
    OWN_CODE = "own_code"
    PRINTED = "printed"


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """Permitted error of an element: `absolute` plus `relative` times the expected magnitude."""

    relative: float
    absolute: float


@dataclass(frozen=True, kw_only=True)
class OwnRule:
    """The thresholds of a suite as data; they are shown and compared with ours, and have no influence on verdicts.

    `closeness` maps names of dtypes to bounds, "" to those of every other dtype.  `thresholds` are those of DISTANCES:
    cosine (at least), l1 and rmse (at most).  `checks_dtype` is whether the suite compares dtypes at all, `draws` the
    number of its random inputs.
    """

    kind: RuleKind
    sentence: str
    closeness: Mapping[str, Closeness] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    least_matched: float = 1.0
    equal_nan: bool = False
    checks_dtype: bool = False
    draws: int = 1


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task of a suite, as defined by its files.

    `name` is unique in the suite and begins with the level or category: "level1/23_Softmax".  `text` is the source of
    the reference, `sources` further texts that it needs, by their paths relative to it, `blobs` data files that it
    needs, by their names in the harness. `modules` are texts of modules that a candidate may import, by their file
    names.  `entry` is the name that a candidate must define. `arguments` are the names of the inputs of a call; None if
    their number does not follow from the text.  `cases` are the names of the cases that the harness can draw, in the
    suite's order; empty for a single one without a name.  `outputs` are the names of the arguments that a DESTINATION
    fills; `writes` is whether a CALL may write to arguments, `fp4` are the names of those whose bytes are fp4 values.
    `constants` are the sizes that may be overridden, by name.  `harness` names the module of `problems.suites.harness`
    that runs it, `details` is data for that module only.
    `refusal` is the reason why the task cannot be run, "" if it can; `health` are sentences on defects of the task
    itself.
    """

    name: str
    title: str
    level: str
    category: str
    file: Path
    text: str
    form: CandidateForm
    entry: str
    harness: str
    own_rule: OwnRule
    arguments: tuple[str, ...] | None = None
    cases: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    writes: bool = False
    fp4: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    blobs: Mapping[str, Path] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Size] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    health: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("sources", "blobs", "modules", "constants", "details"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclass(frozen=True, kw_only=True)
class SuiteContents:
    """Content of a path: tasks with unique names, and a sentence for each of the first other files or rows.

    `left_out` is the total number of the latter.
    """

    tasks: tuple[Task, ...]
    complaints: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class SuiteFormat:
    """A format of suites: `matches` recognises a path without reading all of it, `read` reads the tasks.

    `id` is the library of the problems' names, as in "kernelbench::level1/23_Softmax".  Neither function runs or
    imports anything of the suite, and `read` raises no exception for bad files: they become complaints.
    """

    id: str
    title: str
    matches: Callable[[Path], bool]
    read: Callable[[Path], SuiteContents]
