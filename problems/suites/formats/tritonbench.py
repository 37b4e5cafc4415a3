"""TritonBench: G, Triton wrappers from GitHub, and T, PyTorch functions; both with tests in the same file.

Accepted paths are a checkout with `data/TritonBench_G_v1` and `data/TritonBench_T_v1`, one of these folders, or one
file of them (https://github.com/thunlp/TritonBench; GEAK-eval has the same folders). The metadata file of T ends in
.jsonl but is one JSON array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from problems.suites.complaints import contents_of
from problems.suites.files import SuiteFileError, python_files, text_of
from problems.suites.rows import Row, rows_of
from problems.suites.task import CandidateForm, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.performance import with_performance
from problems.suites.texts.separated import SeparatedFile, is_separated, separated
from problems.suites.texts.siblings import imported_siblings
from problems.suites.texts.syntax import called_names, draws_random, imported_packages, parsed, seeds

HARNESS = "recorded_calls"
_REMOVED = "make_block_ptr"
_FOLDERS = {"TritonBench_G_v1": "G", "TritonBench_T_v1": "T"}
_PLACES = ("", "data", "*/data", "*/*/data", "*/*/*/data")
_MOST_TITLE = 160  # characters

OWN_RULE = OwnRule(
    kind=RuleKind.PRINTED,
    sentence="both files are run and what they print is compared; most tests print nothing, so any exit code 0 passes",
)


@dataclass(frozen=True, kw_only=True)
class _Set:
    """One of the two sets: its letter, folder, and metadata rows by file name."""

    letter: str
    folder: Path
    root: Path
    rows: Mapping[str, Row]


def matches(path: Path) -> bool:
    """Whether this is a checkout, one of the two folders, or a task file of TritonBench."""
    if path.is_dir():
        return bool(_folders(path))
    if path.suffix != ".py":
        return False
    try:
        text = text_of(path, root=path.parent)
        upper = parsed(text.partition("#" * 146)[0], str(path))
    except SuiteFileError:
        return False
    return is_separated(text) and ("triton" in imported_packages(upper) or path.resolve().parent.name in _FOLDERS)


def read(path: Path) -> SuiteContents:
    """The tasks of both sets, of one, or of a file."""
    return contents_of(_of_folder(path) if path.is_dir() else [_of_file(path)])


def _folders(path: Path) -> dict[str, Path]:
    """The folders of the sets in a checkout, or the folder itself, by the letter of the set."""
    if path.resolve().name in _FOLDERS:
        return {_FOLDERS[path.resolve().name]: path}
    for place in _PLACES:
        homes = path.glob(place) if place else (path,)
        for home in sorted(homes):
            found = {letter: home / name for name, letter in _FOLDERS.items() if (home / name).is_dir()}
            if found:
                return found
    return {}


def _of_folder(path: Path) -> Iterator[Task | SuiteFileError]:
    folders = _folders(path)
    for name, letter in _FOLDERS.items():
        folder = folders.get(letter)
        if folder is None:
            if path.resolve().name not in _FOLDERS:
                yield SuiteFileError(f"{path}: no folder {name}, so set {letter} is missing; is the checkout complete?")
            continue
        rows, complaints = _rows(folder)
        yield from complaints
        tasks = _Set(letter=letter, folder=folder, root=path, rows=rows)
        for file in python_files(folder, "*.py"):
            yield _of(file, tasks)
        for missing in sorted(name for name in rows if not (folder / name).is_file()):
            yield SuiteFileError(f"{folder / missing}: in the metadata, but not on disk; left out")


def _rows(folder: Path) -> tuple[dict[str, Row], list[SuiteFileError]]:
    """The metadata beside a folder, by file name."""
    metadata = next((file for end in (".json", ".jsonl") if (file := folder.with_suffix(end)).is_file()), None)
    if metadata is None:
        return {}, [SuiteFileError(f"{folder.name}.json: missing beside {folder}; difficulties are unknown")]
    rows, complaints = {}, []
    for row in rows_of(metadata):
        if isinstance(row, SuiteFileError):
            complaints.append(row)
        elif isinstance(name := row.get("file"), str):
            rows[name] = row
    return rows, complaints


def _of_file(path: Path) -> Task | SuiteFileError:
    """The task of one file; outside of both folders only files of G are recognised."""
    real = path.resolve()
    return _of(real, _Set(letter=_FOLDERS.get(real.parent.name, "G"), folder=real.parent, root=real.parent, rows={}))


def _of(file: Path, tasks: _Set) -> Task | SuiteFileError:
    try:
        text = text_of(file, root=tasks.root)
        parts = separated(text, stem=file.stem, shown=str(file))
    except SuiteFileError as error:
        return error
    row = tasks.rows.get(file.name, {})
    difficulty = str(row.get("difficulty", ""))
    gold = "Triton" if tasks.letter == "G" else ""
    task = Task(
        name=f"{tasks.letter}/{file.stem}",
        title=_title(row, file.stem),
        level=f"difficulty {difficulty}" if difficulty.isdigit() else "",
        category=tasks.letter,
        file=file,
        text=parts.reference,
        form=CandidateForm.CALL,
        entry=parts.entry,
        harness=HARNESS,
        own_rule=OWN_RULE,
        cases=parts.calls.names,
        writes=parts.writes,
        refusal=parts.refusal,
        sources=imported_siblings(text, file, root=tasks.root),
        details={**parts.details(file.stem), "description": str(row.get("description", "")), "gold": gold},
        health=(*parts.health, *_health(parts, file.stem, tasks.letter)),
    )
    performance = _performance(file, tasks)
    return with_performance(task, performance, root=tasks.root, is_random=parts.is_random)


def _performance(file: Path, tasks: _Set) -> Path:
    """Path of a task's performance file in a checkout, beside the folder with the data."""
    home = tasks.folder.parent.parent
    return home / "performance_metrics" / f"perf_{tasks.letter}" / "golden_metrics" / f"{file.stem}_perf.py"


def _health(parts: SeparatedFile, stem: str, letter: str) -> Iterator[str]:
    if letter == "G":
        yield "its reference is a Triton kernel, so a fault of that kernel is expected of the candidate too"
        if _REMOVED in called_names(parsed(parts.reference, stem)):
            yield f"its reference calls tl.{_REMOVED}, which Triton 3.9 removed"
    tests = parsed(parts.tests, stem)
    if draws_random(tests) and not seeds(tests):
        yield "its tests draw random inputs without a seed"
    if stem in imported_packages(tests):
        yield "its tests import the file itself"


def _title(row: Row, stem: str) -> str:
    text = row.get("description")
    words = " ".join(text.split()).partition(". ")[0].removesuffix(".") if isinstance(text, str) else ""
    return words[:_MOST_TITLE] or stem.replace("_", " ")


FORMAT = SuiteFormat(id="tritonbench", title="TritonBench", matches=matches, read=read)
