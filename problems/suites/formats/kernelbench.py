"""KernelBench: `class Model` with `get_inputs` and `get_init_inputs`, answered by `class ModelNew`.

Accepted paths are a checkout, its `KernelBench` folder, one level, one file, and exports of the dataset with the
columns code, level, name and problem_id (https://github.com/ScalingIntelligence/KernelBench).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from engine.model.parsing import parse
from problems.suites.complaints import contents_of
from problems.suites.files import SuiteFileError, link_out, python_files, text_of
from problems.suites.rewriting.sizes import constants_of
from problems.suites.rows import Row, first_row, rows_of
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.siblings import imported_siblings
from problems.suites.texts.syntax import bound_names

HARNESS = "kernelbench"
_EXPORTS = (".json", ".jsonl", ".parquet")
_COLUMNS = frozenset({"code", "level", "name", "problem_id"})
_LEVEL, _FILE = re.compile(r"level(\d+)"), re.compile(r"\d+_\w+")
_CATEGORIES = {"level1": "single operators", "level2": "fusions", "level3": "networks", "level4": "pretrained models"}

OWN_RULE = OwnRule(
    kind=RuleKind.ALLCLOSE,
    sentence="allclose with relative and absolute tolerance 1e-4 (16-bit: 1e-2) on 5 draws; the dtype is not compared",
    closeness={
        "": Closeness(relative=1e-4, absolute=1e-4),
        "float16": Closeness(relative=1e-2, absolute=1e-2),
        "bfloat16": Closeness(relative=1e-2, absolute=1e-2),
    },
    draws=5,
)


def matches(path: Path) -> bool:
    """Whether this is a checkout, a level, a task file or an export of KernelBench."""
    if path.is_dir():
        return bool(_levels(path)) or bool(_exports(path))
    if path.suffix in _EXPORTS:
        return _is_export(path)
    if path.suffix != ".py":
        return False
    try:
        return _is_task(text_of(path, root=path.parent))
    except SuiteFileError:
        return False


def read(path: Path) -> SuiteContents:
    """The tasks of a checkout, a level, a file or an export."""
    if path.is_dir():
        return contents_of(chain(_of_folder(path), chain.from_iterable(map(_of_export, _exports(path)))))
    return contents_of(_of_export(path) if path.suffix in _EXPORTS else [_of(path)])


def _exports(path: Path) -> list[Path]:
    """The parquet files of a downloaded dataset, in it or its folder `data`; none if there are folders of levels."""
    if _levels(path):
        return []
    files = (file for place in ("data", ".") for file in python_files(path / place, "*.parquet"))
    return [file for file in files if _is_export(file)]


def _is_export(file: Path) -> bool:
    return set(first_row(file)) >= _COLUMNS


def _levels(path: Path) -> list[Path]:
    """The folders level1, level2, ... of a checkout or its inner folder, broken links included; or the level itself."""
    if _LEVEL.fullmatch(path.name):
        return [path]
    for home in (path / "KernelBench", path):
        named = (folder for folder in home.glob("level*") if _LEVEL.fullmatch(folder.name))
        found = [folder for folder in named if folder.is_dir() or folder.is_symlink()]
        if found:
            return sorted(found, key=lambda folder: int(folder.name.removeprefix("level")))
    return []


def _of_folder(path: Path) -> Iterator[Task | SuiteFileError]:
    levels = _levels(path)
    if levels != [path]:
        yield from _missing(levels)
    for folder in levels:
        if folder != path and (linked := link_out(folder, path)) is not None:
            yield linked
            continue
        files = list(python_files(folder, "*.py"))
        if not files:
            yield SuiteFileError(f"{folder}: no task files; is the checkout complete?")
        for file in files:
            yield _of(file, level=folder.name, root=path)


def _missing(levels: list[Path]) -> Iterator[SuiteFileError]:
    """A complaint for each missing level below the highest one."""
    names = [folder.name for folder in levels]
    last = int(names[-1].removeprefix("level")) if names else 0
    for name in (f"level{number}" for number in range(1, last)):
        if name not in names:
            yield SuiteFileError(f"{levels[0].parent}: no folder {name}; is the checkout complete?")


def _of(file: Path, *, level: str = "", root: Path | None = None) -> Task | SuiteFileError:
    """The task of one file."""
    level = level or (file.parent.name if _LEVEL.fullmatch(file.parent.name) else "")
    root = root or file.parent
    try:
        text = text_of(file, root=root)
        task = _task(text, stem=file.stem, level=level, file=file, shown=str(file))
        return replace(task, sources=imported_siblings(text, file, root=root))
    except SuiteFileError as error:
        return error


def _of_export(path: Path) -> Iterator[Task | SuiteFileError]:
    for number, row in enumerate(rows_of(path), 1):
        yield row if isinstance(row, SuiteFileError) else _of_row(row, path, number)


def _of_row(row: Row, path: Path, number: int) -> Task | SuiteFileError:
    shown = f"{path}, row {number}"
    code, name, level, problem = (row.get(key) for key in ("code", "name", "level", "problem_id"))
    if not isinstance(code, str) or not isinstance(name, str) or not name:
        return SuiteFileError(f"{shown}: expected texts in the columns code and name; left out")
    stem = Path(name).name.removesuffix(".py")
    stem = stem if stem[:1].isdigit() else f"{problem}_{stem}"
    try:
        return _task(code, stem=stem, level=f"level{level}", file=path, shown=shown)
    except SuiteFileError as error:
        return error


def _task(text: str, *, stem: str, level: str, file: Path, shown: str) -> Task:
    """The task in a text.

    Raises:
        SuiteFileError: it does not parse, or lacks a definition that a task needs.
    """
    try:
        tree = parse(text)
    except SyntaxError as error:
        raise SuiteFileError(f"{shown}:{error.lineno or 1}: syntax error: {error.msg}; left out") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SuiteFileError(f"{shown}: cannot be parsed: {error}; left out") from error
    missing = sorted({"Model", "get_inputs"} - bound_names(tree))
    if missing:
        raise SuiteFileError(f"{shown}: defines no {' and no '.join(missing)}, so it is not a task; left out")
    return Task(
        name=f"{level}/{stem}" if level else stem,
        title=(stem.partition("_")[2] if _FILE.fullmatch(stem) else stem).replace("_", " ").strip(),
        level=level,
        category=_CATEGORIES.get(level, level or "tasks"),
        file=file,
        text=text,
        form=CandidateForm.MODULE,
        entry="ModelNew",
        harness=HARNESS,
        own_rule=OWN_RULE,
        arguments=_arguments(tree),
        constants=constants_of(text),
        refusal=_refusal(text),
    )


def _is_task(text: str) -> bool:
    return "Model" in text and "def get_inputs" in text


def _refusal(text: str) -> str:
    """The reason why a reference cannot run: weights of a pretrained model are not available."""
    if "from_pretrained(" in text:
        return "its reference downloads a pretrained model, and the reference process has no network"
    return ""


def _arguments(tree: ast.Module) -> tuple[str, ...] | None:
    """The names of the forward arguments that get_inputs returns; None if their number is unknown."""
    count = _inputs(tree)
    forward = next(
        (
            method
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name == "Model"
            for method in node.body
            if isinstance(method, ast.FunctionDef) and method.name == "forward"
        ),
        None,
    )
    if count is None or forward is None:
        return None
    names = tuple(argument.arg for argument in (*forward.args.posonlyargs, *forward.args.args))[1 : count + 1]
    return names if len(names) == count else None


def _inputs(tree: ast.Module) -> int | None:
    """Number of values that get_inputs returns, if all its returns are lists of one length; else None."""
    function = next(
        (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_inputs"), None
    )
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)] if function else []
    lengths = {
        len(value.elts)
        if isinstance(value, ast.List | ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts)
        else None
        for value in returned
    }
    return lengths.pop() if len(lengths) == 1 else None


FORMAT = SuiteFormat(id="kernelbench", title="KernelBench", matches=matches, read=read)
