"""The task and the sample number in the path of a candidate's file.

`level1/23_Softmax.py` has the name of its task, and so do `23_Softmax_0.py`, `23_Softmax_sample_3.py` and
`23_Softmax/0.py`, in folders of any names above.  KernelBench itself writes `level_1_problem_23_sample_0_kernel.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from problems.suites.task import Task

_MARK = r"(?:sample|try|attempt|answer)"
_SAMPLE = re.compile(rf"(?P<name>.+?)[._-](?:{_MARK}[._-]?)?(?P<number>\d{{1,6}})")
_NUMBER = re.compile(rf"(?:{_MARK}[._-]?)?(?P<number>\d{{1,6}})")
_NUMBERED = re.compile(r"level_(\d+)_problem_(\d+)(?:_sample_(\d{1,6}))?(?:_kernel)?")


def task_and_sample(place: PurePath, tasks: Mapping[str, Task]) -> tuple[Task, int | None] | None:
    """The task among `tasks`, whose keys are names used for candidates, and the sample number, or None without one.

    The file name has priority over folder names, and a whole name over a name with a number after it: a task may be
    called `conv_3`. None if no part of the path is the name of a task.
    """
    named = place.with_suffix("")
    found = _ending(named, tasks)
    if found is not None:
        return found, None
    sampled = _SAMPLE.fullmatch(named.name)
    found = _ending(named.with_name(sampled["name"]), tasks) if sampled is not None else None
    if sampled is not None and found is not None:
        return found, int(sampled["number"])
    return _by_number(named.name, tasks) or _by_folder(named, tasks)


def _ending(named: PurePath, tasks: Mapping[str, Task]) -> Task | None:
    """The task whose name is the end of a path; longer ends first."""
    return next((tasks[name] for name in _ends(named) if name in tasks), None)


def _ends(named: PurePath) -> Iterator[str]:
    parts = named.parts
    return ("/".join(parts[first:]) for first in range(len(parts)))


def _by_number(name: str, tasks: Mapping[str, Task]) -> tuple[Task, int | None] | None:
    """The task of a level and a number, in KernelBench's names of answers."""
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return None
    level, number, sample = match.groups()
    found = next((task for task in tasks.values() if task.name.startswith(f"level{level}/{number}_")), None)
    return None if found is None else (found, None if sample is None else int(sample))


def _by_folder(named: PurePath, tasks: Mapping[str, Task]) -> tuple[Task, int | None] | None:
    """The task named by the innermost folder that is named after one; a file `0` or `sample_0` in it is a sample."""
    number = _NUMBER.fullmatch(named.name) or _SAMPLE.fullmatch(named.name)
    for folder in named.parents:
        found = _ending(folder, tasks)
        if found is not None:
            return found, None if number is None else int(number["number"])
    return None
