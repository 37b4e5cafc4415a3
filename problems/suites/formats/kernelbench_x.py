"""KernelBench-X: a reference, 146 `#`, and tests in one file; metadata and performance inputs beside.

Accepted paths are a checkout (`data/kernelbenchx_v1.json`, `data/kernelbenchx/<Category>/<stem>.py`,
`metrics/golden_metrics/<stem>_perf.py`, `utils/*.py`), its data folder, the metadata file, or one task file
(https://github.com/BonnieW05/KernelBenchX).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from problems.suites.complaints import contents_of
from problems.suites.files import SuiteFileError, python_files, text_of
from problems.suites.rows import Row, rows_of
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.performance import with_performance
from problems.suites.texts.separated import SeparatedFile, is_separated, separated
from problems.suites.texts.syntax import imported_packages, parameters, parsed

HARNESS = "recorded_calls"
_METADATA, _FOLDER = "kernelbenchx_v1.json", "kernelbenchx"
_THRESHOLDS = {"cosine_sim": "cosine", "l1_relative": "l1", "rmse": "rmse"}
_UNREGISTERED = "not in the metadata: the suite's own scripts leave it out"

OWN_RULE = OwnRule(
    kind=RuleKind.ALLCLOSE,
    sentence="assert_close with equal tolerances: 5e-3 in 16 bit, 1e-5 in float32 and float64, 0 in every other dtype",
    closeness={
        "float16": Closeness(relative=5e-3, absolute=5e-3),
        "bfloat16": Closeness(relative=5e-3, absolute=5e-3),
        "float32": Closeness(relative=1e-5, absolute=1e-5),
        "float64": Closeness(relative=1e-5, absolute=1e-5),
        "": Closeness(relative=0.0, absolute=0.0),
    },
    equal_nan=True,
    checks_dtype=True,
)


@dataclass(frozen=True, kw_only=True)
class _Checkout:
    """Paths of the parts of a checkout; `root` bounds the files that are read."""

    root: Path
    tasks: Path
    metadata: Path | None
    performance: Path
    utilities: Mapping[str, str] = field(default_factory=dict)


def matches(path: Path) -> bool:
    """Whether this is a checkout, its data folder, its metadata or a task file of KernelBench-X."""
    if path.is_dir() or path.name == _METADATA:
        return _checkout(path) is not None
    if path.suffix != ".py" or "TritonBench" in path.resolve().as_posix():
        return False
    try:
        text = text_of(path, root=path.parent)
        upper = parsed(text.partition("#" * 146)[0], str(path))
    except SuiteFileError:
        return False
    return is_separated(text) and "triton" not in imported_packages(upper)


def read(path: Path) -> SuiteContents:
    """The tasks of a checkout or a task file."""
    return contents_of(_of_checkout(path) if path.is_dir() or path.name == _METADATA else [_of_file(path)])


def _checkout(path: Path) -> _Checkout | None:
    """The parts of the checkout that contains a folder, its data folder, its task folder or its metadata file."""
    for root in (path, *list(path.parents)[:2]):
        tasks, metadata = root / "data" / _FOLDER, root / "data" / _METADATA
        if (tasks.is_dir() or metadata.is_file()) and path in (root, root / "data", tasks, metadata):
            known = metadata if metadata.is_file() else None
            performance = root / "metrics" / "golden_metrics"
            return _Checkout(root=root, tasks=tasks, metadata=known, performance=performance)
    return None


def _of_checkout(path: Path) -> Iterator[Task | SuiteFileError]:
    checkout = _checkout(path)
    assert checkout is not None  # checked in `matches`
    utilities, complaints = _utilities(checkout)
    yield from complaints
    checkout = replace(checkout, utilities=utilities)
    if not checkout.tasks.is_dir():
        yield SuiteFileError(f"{checkout.tasks}: missing, so there are no task files; is the checkout complete?")
        return
    registered = set()
    if checkout.metadata is None:
        yield SuiteFileError(f"{checkout.root}: no data/{_METADATA}: difficulties, descriptions and thresholds unknown")
    else:
        for number, row in enumerate(rows_of(checkout.metadata), 1):
            if isinstance(row, SuiteFileError):
                yield row
                continue
            registered.add(str(row.get("file")))
            yield _of_row(row, checkout, f"{checkout.metadata}, entry {number}")
    for file in python_files(checkout.tasks, "*/*.py"):
        if file.relative_to(checkout.tasks).as_posix() not in registered:
            yield _unregistered(file, checkout)


def _utilities(checkout: _Checkout) -> tuple[dict[str, str], list[SuiteFileError]]:
    """The texts of the modules in `utils` under the names that tests import: from that folder, or its parent."""
    texts: dict[str, str] = {}
    complaints = []
    for file in python_files(checkout.root / "utils", "*.py"):
        try:
            text = text_of(file, root=checkout.root)
            texts |= {file.name: text, f"utils/{file.name}": text}
        except SuiteFileError as error:
            complaints.append(error)
    return texts, complaints


def _of_row(row: Row, checkout: _Checkout, shown: str) -> Task | SuiteFileError:
    """The task of a metadata entry of either kind: the texts of TritonBench T, or dtype or quantisation."""
    place = row.get("file")
    if not isinstance(place, str) or len(Path(place).parts) != 2 or ".." in place:
        return SuiteFileError(f"{shown}: expected file '<Category>/<stem>.py', got {place!r}; left out")
    try:
        task = _of_text(checkout.tasks / place, checkout)
    except SuiteFileError as error:
        return error
    description = row.get("description")
    return replace(
        task,
        title=_first_sentence(description) if isinstance(description, str) else task.title,
        level=_level(row.get("difficulty")),
        own_rule=_rule(row),
        details={**task.details, **_quantisation(row), "description": str(description or "")},
    )


def _unregistered(file: Path, checkout: _Checkout) -> Task | SuiteFileError:
    try:
        task = _of_text(file, checkout)
    except SuiteFileError as error:
        return error
    return replace(task, health=(*task.health, _UNREGISTERED)) if checkout.metadata else task


def _of_file(path: Path) -> Task | SuiteFileError:
    """The task of one file, with the utilities of the surrounding checkout if there is one."""
    real = path.resolve()
    root = real.parents[3] if len(real.parents) > 3 and real.parents[1].name == _FOLDER else real.parent
    checkout = _Checkout(root=root, tasks=real.parents[1], metadata=None, performance=root / "metrics/golden_metrics")
    try:
        return _of_text(real, replace(checkout, utilities=_utilities(checkout)[0]))
    except SuiteFileError as error:
        return error


def _of_text(file: Path, checkout: _Checkout) -> Task:
    """The task of a file without its metadata.

    Raises:
        SuiteFileError: it cannot be read as a task.
    """
    parts = separated(text_of(file, root=checkout.root), stem=file.stem, shown=str(file))
    category = file.parent.name
    task = Task(
        name=f"{category}/{file.stem}",
        title=file.stem.replace("_", " "),
        level="",
        category=category,
        file=file,
        text=parts.reference,
        form=CandidateForm.CALL,
        entry=parts.entry,
        harness=HARNESS,
        own_rule=OWN_RULE,
        cases=parts.calls.names,
        writes=parts.writes,
        refusal=parts.refusal,
        sources=checkout.utilities,
        details={
            **parts.details(file.stem),
            "parameters": json.dumps(parameters(parts.function)),
        },
        health=_health(parts, file.stem),
    )
    performance = checkout.performance / f"{file.stem}_perf.py"
    return with_performance(task, performance, root=checkout.root, is_random=parts.is_random)


def _health(parts: SeparatedFile, stem: str) -> tuple[str, ...]:
    if parts.entry == stem:
        return parts.health
    return (*parts.health, f"the file is called {stem}, its function {parts.entry}")


def _level(difficulty: object) -> str:
    """The difficulty, an int or digits, as a level; "" for anything else."""
    digits = str(difficulty)
    return f"difficulty {int(digits)}" if digits.isascii() and digits.isdigit() else ""


def _rule(row: Row) -> OwnRule:
    """The rule of a task: closeness, or three distances if the entry has thresholds."""
    given = row.get("precision_thresholds")
    if not isinstance(given, dict):
        return OWN_RULE
    thresholds = {
        ours: float(given[theirs])
        for theirs, ours in _THRESHOLDS.items()
        if isinstance(given.get(theirs), int | float) and not isinstance(given.get(theirs), bool)
    }
    words = ", ".join(f"{name} {value:g}" for name, value in thresholds.items())
    sentence = f"cosine similarity, relative L1 distance and absolute RMSE to the unquantised result: {words}"
    return OwnRule(kind=RuleKind.DISTANCES, sentence=sentence, thresholds=thresholds, checks_dtype=True)


def _quantisation(row: Row) -> dict[str, str]:
    """The formats of weights, activations and sums as JSON; empty for a task that is not quantised."""
    spec = row.get("quantization_spec")
    return {"quantisation": json.dumps(spec)} if isinstance(spec, dict) else {}


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].removesuffix(".")[:160]


FORMAT = SuiteFormat(id="kernelbenchx", title="KernelBench-X", matches=matches, read=read)
