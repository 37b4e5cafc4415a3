"""flashinfer-trace: a definition with axes, inputs, outputs and a reference in JSON; its workloads as JSONL.

Read are a dataset (`definitions/<type>/<name>.json`, `workloads/<type>/<name>.jsonl`), a checkout that has one in a
folder, or one definition (schema of https://github.com/flashinfer-ai/flashinfer-bench).  Large files of the dataset
are Git LFS pointers until they are pulled; those are recognised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from problems.suites.files import Row, SuiteFileError, python_files, rows_of, text_of
from problems.suites.syntax import functions, parameters, parsed
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task

HARNESS = "flashinfer_trace"
_LFS = "version https://git-lfs.github.com/spec/"
_PLACES = ("", "flashinfer_trace", "flashinfer-trace", "*/flashinfer-trace")
_KEYS = frozenset({"name", "op_type", "axes", "inputs", "outputs", "reference"})
_INTEGERS = ("int", "uint")
_DTYPES = frozenset({"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"})
_OWN_JUDGE = {
    "sampling": "the suite compares distributions of samples; that is not done here",
    "dsa_paged": "the suite compares sets of indices by a rule of its own; that is not done here",
}


def matches(path: Path) -> bool:
    """Whether this is a dataset, a checkout with one, or a definition."""
    if path.is_dir():
        return _home(path) is not None
    if path.suffix != ".json":
        return False
    try:
        return _definition(path, path.parent) is not None
    except SuiteFileError:
        return False


def read(path: Path) -> SuiteContents:
    """The tasks of a dataset or a definition."""
    found = [*_of_dataset(path)] if path.is_dir() else [_of(path, path.parent, None)]
    tasks = tuple(one for one in found if isinstance(one, Task))
    return SuiteContents(tasks=tasks, complaints=tuple(str(one) for one in found if isinstance(one, SuiteFileError)))


def _home(path: Path) -> Path | None:
    """The folder of a dataset: the one with `definitions`."""
    homes = (home for place in _PLACES for home in ([path] if not place else sorted(path.glob(place))))
    return next((home for home in homes if any((home / "definitions").glob("*/*.json"))), None)


def _of_dataset(path: Path) -> Iterator[Task | SuiteFileError]:
    home = _home(path)
    assert home is not None  # `matches` has looked
    if not (home / "workloads").is_dir():
        yield SuiteFileError(f"{home / 'workloads'}: missing, so no task has inputs; is the dataset complete?")
    for file in python_files(home / "definitions", "*/*.json"):
        yield _of(file, path, home)


def _of(file: Path, root: Path, home: Path | None) -> Task | SuiteFileError:
    """The task of a definition; `home` is the dataset that may have workloads of it."""
    try:
        definition = _definition(file, root)
        if definition is None:
            return SuiteFileError(f"{file}: lacks a key of a definition ({', '.join(sorted(_KEYS))}); left out")
        workloads, reasons = _workloads(definition, home)
        return _task(definition, workloads, reasons, file)
    except SuiteFileError as error:
        return error


def _definition(file: Path, root: Path) -> Row | None:
    """The definition in a file; None for other JSON.

    Raises:
        SuiteFileError: it is a Git LFS pointer, no JSON, or cannot be read.
    """
    text = text_of(file, root=root)
    if text.startswith(_LFS):
        raise SuiteFileError(f"{file}: a Git LFS pointer in place of the file; run `git lfs pull` in the checkout")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SuiteFileError(f"{file}: no JSON: {error}; left out") from error
    return found if isinstance(found, dict) and set(found) >= _KEYS else None


def _workloads(definition: Row, home: Path | None) -> tuple[list[dict[str, object]], list[str]]:
    """The workloads whose inputs can be drawn, and the reasons why others cannot."""
    name, kind = str(definition["name"]), str(definition["op_type"])
    file = home / "workloads" / kind / f"{name}.jsonl" if home is not None else None
    if file is None or not file.is_file():
        return [], [f"no workloads/{kind}/{name}.jsonl"]
    if text_of(file, root=home or file).startswith(_LFS):
        return [], [f"{file.name} is a Git LFS pointer; run `git lfs pull` in the checkout"]
    found: list[dict[str, object]] = []
    reasons: list[str] = []
    for row in rows_of(file):
        workload = row.get("workload") if not isinstance(row, SuiteFileError) else None
        if not isinstance(workload, dict) or not isinstance(workload.get("axes"), dict):
            reasons.append(str(row) if isinstance(row, SuiteFileError) else f"{file}: a row without workload and axes")
        elif reason := _undrawable(definition, workload):
            reasons.append(reason)
        else:
            found.append({"name": str(workload.get("uuid", len(found)))[:8], **workload})
    return found, list(dict.fromkeys(reasons))


def _undrawable(definition: Row, workload: Mapping[str, object]) -> str:
    """Why inputs of a workload cannot be drawn; "" where they can."""
    given = workload.get("inputs")
    ways = given if isinstance(given, dict) else {}
    for name, spec in definition["inputs"].items():
        way = ways.get(name, {}).get("type")
        dtype = str(spec.get("dtype")) if isinstance(spec, dict) else ""
        if way == "safetensors":
            return f"{name} is stored in a safetensors file, which is not read"
        if way not in ("random", "scalar"):
            return f"{name} has no known kind of input: {way!r}"
        if dtype not in _DTYPES:
            return f"{name} is of {dtype}, which is not drawn"
        if way == "random" and dtype.startswith(_INTEGERS):
            return f"{name} is of {dtype}: random integers of the suite, in [-1024, 1024), are no valid indices"
    return ""


def _task(definition: Row, workloads: list[dict[str, object]], reasons: list[str], file: Path) -> Task:
    """The task of a definition.

    Raises:
        SuiteFileError: its reference does not parse, or defines no run.
    """
    name, kind, reference = (str(definition[key]) for key in ("name", "op_type", "reference"))
    run = functions(parsed(reference, f"{file}, reference")).get("run")
    if run is None:
        raise SuiteFileError(f"{file}: its reference defines no function run; left out")
    schema = {key: definition[key] for key in ("axes", "inputs", "outputs")}
    return Task(
        name=f"{kind}/{name}",
        title=_title(definition.get("description"), name),
        level=kind,
        category=kind,
        file=file,
        text=reference,
        form=CandidateForm.DESTINATION,
        entry="run",
        harness=HARNESS,
        own_rule=_rule(kind),
        arguments=parameters(run),
        cases=tuple(str(one["name"]) for one in workloads),
        outputs=tuple(definition["outputs"]),
        details={"schema": json.dumps(schema), "workloads": json.dumps(workloads)},
        refusal=_OWN_JUDGE.get(kind, "") or ("" if workloads else _none(reasons)),
        health=tuple(f"some workloads are left out: {reason}" for reason in reasons if workloads),
    )


def _none(reasons: list[str]) -> str:
    return f"it has no workload whose inputs can be drawn: {'; '.join(reasons[:3])}"


def _rule(kind: str) -> OwnRule:
    least = 0.95 if kind == "moe" else 1.0
    return OwnRule(
        kind=RuleKind.MATCHED_RATIO,
        sentence=f"at least {least:.0%} of the elements within 1e-2 absolute or 1e-2 relative; no inf and no nan",
        closeness={"": Closeness(relative=1e-2, absolute=1e-2)},
        least_matched=least,
        checks_dtype=True,
        draws=3,
    )


def _title(description: object, name: str) -> str:
    text = " ".join(description.split()) if isinstance(description, str) else ""
    return text.partition(". ")[0].removesuffix(".")[:160] or name


FORMAT = SuiteFormat(id="flashinfer", title="flashinfer-trace", matches=matches, read=read)
