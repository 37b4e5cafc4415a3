"""flashinfer-trace: a definition with axes, inputs, outputs and a reference in JSON; its workloads as JSONL.

Accepted paths are a dataset (`definitions/<type>/<name>.json`, `workloads/<type>/<name>.jsonl`), a checkout that
contains one, or one definition (schema of https://github.com/flashinfer-ai/flashinfer-bench).  Large files of the
dataset are Git LFS pointers until they are pulled; pointers are recognised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from engine.model.problems.suite_origin import FP4
from problems.suites import fp4
from problems.suites.blobs import StoredFiles
from problems.suites.complaints import contents_of
from problems.suites.files import MOST_ARRAY_BYTES, SuiteFileError, python_files, text_of
from problems.suites.rows import Row, rows_of
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.constraints import Kind, determined
from problems.suites.texts.syntax import functions, parameters, parsed

HARNESS = "flashinfer_trace"
_LFS = "version https://git-lfs.github.com/spec/"
_PLACES = ("", "flashinfer_trace", "flashinfer-trace", "*/flashinfer-trace")
_KEYS = frozenset({"name", "op_type", "axes", "inputs", "outputs", "reference"})
_INTEGERS = ("int", "uint")
_DTYPES = frozenset({
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint8", "bool", *fp4.NAMES,
})  # fmt: skip
_NO_RULE = OwnRule(
    kind=RuleKind.OWN_CODE, sentence="not applied: torch has no arithmetic for fp4, so that the suite cannot compare it"
)
_OWN_JUDGE = {
    "sampling": "the suite compares distributions of samples; that is not done here",
    "dsa_paged": "the suite compares sets of indices by its own rule, which is not supported",
}


class _Axis(msgspec.Struct, frozen=True):
    """An axis: const with a value, or var."""

    type: str
    value: int | None = None


class _Tensor(msgspec.Struct, frozen=True):
    """A tensor given by the names of its axes; a number if it has no shape."""

    dtype: str
    shape: tuple[str, ...] | None = None


class _Definition(msgspec.Struct, frozen=True):
    """The fields of a definition that are read."""

    name: str
    op_type: str
    axes: dict[str, _Axis]
    inputs: dict[str, _Tensor]
    outputs: dict[str, _Tensor]
    reference: str
    description: str | None = None
    constraints: tuple[str, ...] | None = None

    @property
    def determined(self) -> dict[str, tuple[Kind, str]]:
        """The integer inputs whose valid values are determined by the definition."""
        integers = {name: spec.shape for name, spec in self.inputs.items() if spec.dtype.startswith(_INTEGERS)}
        return determined(integers, self.axes, self.constraints or ())


class _Input(msgspec.Struct, frozen=True):
    """Source of an input of a workload: random, a scalar with a value, or a tensor of a safetensors file."""

    type: str
    value: bool | int | float | None = None
    path: str = ""
    tensor_key: str = ""


class _Workload(msgspec.Struct, frozen=True):
    """The sizes and inputs of a workload."""

    axes: dict[str, Annotated[int, msgspec.Meta(ge=0)]]
    inputs: dict[str, _Input]
    uuid: str = ""


def matches(path: Path) -> bool:
    """Whether this is a dataset, a checkout with one, or a definition."""
    if path.is_dir():
        return _home(path) is not None
    if path.suffix != ".json":
        return False
    try:
        return set(_object(path, path.parent)) >= _KEYS
    except SuiteFileError:
        return False


def read(path: Path) -> SuiteContents:
    """The tasks of a dataset or a definition."""
    return contents_of(_of_dataset(path) if path.is_dir() else [_of(path, path.parent, None)])


def _home(path: Path) -> Path | None:
    """The folder of a dataset: the one with `definitions`."""
    homes = (home for place in _PLACES for home in ([path] if not place else sorted(path.glob(place))))
    return next((home for home in homes if any((home / "definitions").glob("*/*.json"))), None)


def _of_dataset(path: Path) -> Iterator[Task | SuiteFileError]:
    home = _home(path)
    assert home is not None  # checked in `matches`
    if not (home / "workloads").is_dir():
        yield SuiteFileError(f"{home / 'workloads'}: missing, so no task has inputs; is the dataset complete?")
    for file in python_files(home / "definitions", "*/*.json"):
        yield _of(file, path, home)


def _of(file: Path, root: Path, home: Path | None) -> Task | SuiteFileError:
    """The task of a definition; `home` is the dataset that may contain its workloads."""
    try:
        definition = _definition(file, root)
        stored = StoredFiles(home)
        workloads, reasons = _workloads(definition, home, stored)
        return _task(definition, workloads, reasons, file, stored)
    except SuiteFileError as error:
        return error


def _object(file: Path, root: Path) -> Row:
    """The object in a JSON file.

    Raises:
        SuiteFileError: it is a Git LFS pointer, is not a JSON object, or cannot be read.
    """
    text = text_of(file, root=root)
    if text.startswith(_LFS):
        raise SuiteFileError(f"{file}: a Git LFS pointer in place of the file; run `git lfs pull` in the checkout")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SuiteFileError(f"{file}: not valid JSON: {error}; left out") from error
    if not isinstance(found, dict):
        raise SuiteFileError(f"{file}: expected an object, got {type(found).__name__}; left out")
    return found


def _definition(file: Path, root: Path) -> _Definition:
    """The definition in a file.

    Raises:
        SuiteFileError: it has no valid definition.
    """
    try:
        return msgspec.convert(_object(file, root), _Definition)
    except msgspec.ValidationError as error:
        raise SuiteFileError(f"{file}: not a valid definition: {error}; left out") from error


def _workloads(
    definition: _Definition, home: Path | None, stored: StoredFiles
) -> tuple[list[dict[str, object]], list[str]]:
    """The workloads whose inputs can be drawn, as JSON values, and the reasons why others cannot."""
    place = f"workloads/{definition.op_type}/{definition.name}.jsonl"
    if home is None or not (home / place).is_file():
        return [], [f"no {place}"]
    file = home / place
    if text_of(file, root=home, most_bytes=MOST_ARRAY_BYTES).startswith(_LFS):
        return [], [f"{file.name} is a Git LFS pointer; run `git lfs pull` in the checkout"]
    found: list[dict[str, object]] = []
    reasons: list[str] = []
    for number, row in enumerate(rows_of(file), 1):
        try:
            workload = _workload(row)
        except msgspec.ValidationError as error:
            reasons.append(f"{file.name}:{number}: not a valid workload: {error}")
            continue
        if reason := _undrawable(definition, workload) or stored.refusal_of(_paths(workload)):
            reasons.append(reason)
        else:
            found.append({"name": workload.uuid[:8] or f"row {number}", **msgspec.to_builtins(workload)})
    names = [one["name"] for one in found]
    return [one for place, one in enumerate(found) if one["name"] not in names[:place]], list(dict.fromkeys(reasons))


def _workload(row: Row | SuiteFileError) -> _Workload:
    """The workload of a row.

    Raises:
        ValidationError: it is not a valid workload.
    """
    if isinstance(row, SuiteFileError):
        raise msgspec.ValidationError(str(row))
    return msgspec.convert(row.get("workload"), _Workload)


def _paths(workload: _Workload) -> list[str]:
    """The files of a workload's stored inputs."""
    return [one.path for one in workload.inputs.values() if one.type == "safetensors"]


def _undrawable(definition: _Definition, workload: _Workload) -> str:
    """The reason why inputs of a workload cannot be drawn; "" if they can."""
    for name, spec in definition.inputs.items():
        way = workload.inputs[name].type if name in workload.inputs else None
        if way not in ("random", "scalar", "safetensors"):
            return f"{name} has no known kind of input: {way!r}"
        if spec.dtype not in _DTYPES:
            return f"{name} is of {spec.dtype}, which is not drawn"
        if spec.dtype in fp4.NAMES and spec.shape is None:
            return f"{name} is a number of {spec.dtype}, which Python does not have"
        if way == "random" and spec.dtype.startswith(_INTEGERS) and name not in definition.determined:
            return (
                f"{name} is of {spec.dtype}: random integers of the suite, in [-1024, 1024), are not valid indices, "
                "and no constraint of the definition determines valid ones"
            )
    sizes = workload.axes.keys() | {name for name, axis in definition.axes.items() if axis.value is not None}
    specs = (*definition.inputs.values(), *definition.outputs.values())
    if missing := next((axis for spec in specs for axis in spec.shape or () if axis not in sizes), ""):
        return f"a workload gives no size of the axis {missing!r}"
    odd = next((spec.dtype for spec in definition.outputs.values() if spec.dtype not in _DTYPES), "")
    return f"an output is of {odd}, which is not compared" if odd else ""


def _task(
    definition: _Definition,
    workloads: list[dict[str, object]],
    reasons: list[str],
    file: Path,
    stored: StoredFiles,
) -> Task:
    """The task of a definition.

    Raises:
        SuiteFileError: its reference does not parse, or defines no run.
    """
    name, kind, reference = definition.name, definition.op_type, definition.reference
    run = functions(parsed(reference, f"{file}, reference")).get("run")
    if run is None:
        raise SuiteFileError(f"{file}: its reference defines no function run; left out")
    specs = {**definition.inputs, **definition.outputs}
    fp4_names = {name for name, spec in specs.items() if spec.dtype in fp4.NAMES}
    parts = ("axes", "inputs", "outputs", "determined")
    schema = {key: msgspec.to_builtins(getattr(definition, key)) for key in parts}
    return Task(
        name=f"{kind}/{name}",
        title=_title(definition.description or "", name),
        level=kind,
        category=kind,
        file=file,
        text=reference,
        form=CandidateForm.DESTINATION,
        entry="run",
        harness=HARNESS,
        own_rule=_rule(kind) if not fp4_names & definition.outputs.keys() else _NO_RULE,
        arguments=parameters(run),
        cases=tuple(str(one["name"]) for one in workloads),
        outputs=tuple(definition.outputs),
        fp4=tuple(sorted(fp4_names)),
        blobs=stored.files,
        details={"schema": json.dumps(schema), "workloads": json.dumps(workloads)},
        refusal=_OWN_JUDGE.get(kind, "") or ("" if workloads else _none(reasons)),
        health=(
            *_same(workloads),
            *_made(definition, workloads),
            *_packed(fp4_names),
            *_left_out(workloads, reasons),
        ),
    )


def _same(workloads: list[dict[str, object]]) -> Iterator[str]:
    """A sentence about the inputs that are equal in every draw."""
    given = [one["inputs"] for one in workloads]
    names = [name for one in given if isinstance(one, dict) for name in one if one[name]["type"] == "safetensors"]
    if names:
        yield f"inputs that the dataset stores are the same in every draw: {', '.join(dict.fromkeys(names))}"


def _made(definition: _Definition, workloads: list[dict[str, object]]) -> Iterator[str]:
    """A sentence about the integers that are drawn differently than in the suite."""
    given = [one["inputs"] for one in workloads]
    names = [name for one in given if isinstance(one, dict) for name in one if one[name]["type"] == "random"]
    if made := [name for name in dict.fromkeys(names) if name in definition.determined]:
        yield f"drawn so that they are valid by the definition, not from [-1024, 1024): {', '.join(made)}"


def _packed(names: set[str]) -> Iterator[str]:
    """A sentence about arguments of fp4."""
    if names:
        yield f"torch.{FP4}, two values per byte, the first in the low bits: {', '.join(sorted(names))}"


def _left_out(workloads: list[dict[str, object]], reasons: list[str]) -> Iterator[str]:
    """A sentence for each reason why some workloads are not cases."""
    yield from (f"some workloads are left out: {reason}" for reason in reasons if workloads)


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


def _title(description: str, name: str) -> str:
    text = " ".join(description.split())
    return text.partition(". ")[0].removesuffix(".")[:160] or name


FORMAT = SuiteFormat(id="flashinfer", title="flashinfer-trace", matches=matches, read=read)
