"""GPU MODE's reference-kernels: a `task.yml` names files, tests and benchmarks; a submission defines `custom_kernel`.

Accepted paths are a checkout (`problems/<group>/<task>/task.yml`), a group, a task folder or a task.yml
(https://github.com/gpu-mode/reference-kernels).  The files of a task may be in its group's folder.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from problems.suites.complaints import contents_of
from problems.suites.files import SuiteFileError, natural, text_of
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.syntax import bound_names, imported_packages, parsed

HARNESS = "gpu_mode"
_FILE, _REFERENCE, _RUNNER, _SUBMISSION = "task.yml", "reference.py", "eval.py", "@SUBMISSION@"
_PATTERNS = ("task.yml", "*/task.yml", "*/*/task.yml", "problems/*/*/task.yml")
_NEEDED = ("generate_input", "ref_kernel")
_DEFAULTS = (("rtol", 1e-5), ("atol", 1e-8))  # defaults of the suite's verbose_allclose
_AVAILABLE = frozenset({"torch", "numpy", "triton"})


def matches(path: Path) -> bool:
    """Whether this is a task.yml, or a folder with some at most three levels below."""
    return path.name == _FILE if path.is_file() else path.is_dir() and bool(_task_files(path))


def read(path: Path) -> SuiteContents:
    """The tasks of a checkout, a group, a folder or a task.yml."""
    return contents_of(_of(file, path) for file in ([path] if path.is_file() else _task_files(path)))


def _task_files(path: Path) -> list[Path]:
    """The task.yml files at the first depth that has any."""
    for pattern in (_PATTERNS[3], *_PATTERNS[:3]):
        if found := sorted(path.glob(pattern), key=lambda file: natural(file.as_posix())):
            return found
    return []


def _of(file: Path, path: Path) -> Task | SuiteFileError:
    """The task of one task.yml.  Its files may be in its folder or the folder above, or in the given suite."""
    folder, given_path = file.parent.resolve(), path.resolve()
    root = given_path if path.is_dir() and folder != given_path else folder.parent
    try:
        given = _yaml(text_of(file, root=root), file)
        sources, missing = _sources(given, folder, root)
        return _task(given, sources, missing, file)
    except SuiteFileError as error:
        return error


def _yaml(text: str, file: Path) -> Mapping[str, object]:
    """The mapping of a task.yml.

    Raises:
        SuiteFileError: it is not YAML, or not a mapping.
    """
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SuiteFileError(f"{file}: not valid YAML: {' '.join(str(error).split())}; left out") from error
    if not isinstance(found, dict):
        raise SuiteFileError(f"{file}: expected a mapping with files and tests, got {type(found).__name__}; left out")
    return found


def _sources(given: Mapping[str, object], folder: Path, root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of a task's files, and a sentence for each missing file; both by their names in task.yml."""
    sources: dict[str, str] = {}
    missing: dict[str, str] = {}
    files = given.get("files")
    for entry in files if isinstance(files, list) else []:
        name, source = (entry.get("name"), entry.get("source")) if isinstance(entry, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(source, str) or Path(name).name != name:
            missing[repr(entry)] = f"an entry of files has no valid name and source: {entry!r}"
        elif source != _SUBMISSION:
            try:
                sources[name] = text_of(folder / source, root=root)
            except SuiteFileError as error:
                missing[name] = str(error).removesuffix("; left out")
    return sources, missing


def _task(given: Mapping[str, object], sources: Mapping[str, str], missing: Mapping[str, str], file: Path) -> Task:
    reference = sources.get(_REFERENCE, "")
    group, name = file.parent.resolve().parent.name, file.parent.resolve().name
    tree = parsed(reference, f"{file.parent / _REFERENCE}")
    tests, benchmarks = _cases(given.get("tests")), _cases(given.get("benchmarks"))
    return Task(
        name=f"{group}/{name}",
        title=_title(given.get("description"), name),
        level=group,
        category=group,
        file=file,
        text=reference,
        form=CandidateForm.SUBMISSION,
        entry="custom_kernel",
        harness=HARNESS,
        own_rule=_rule(tree),
        arguments=("data",),
        cases=tuple(_case_names(tests, benchmarks)),
        sources={key: text for key, text in sources.items() if key not in (_REFERENCE, _RUNNER)},
        modules={key: text for key, text in sources.items() if key != _RUNNER and key.endswith(".py")},
        details={"tests": json.dumps(tests), "benchmarks": json.dumps(benchmarks)},
        refusal=_refusal(given, tree, sources, tests, missing),
        health=tuple(missing.values()),
    )


def _case_names(tests: list[dict[str, object]], benchmarks: list[dict[str, object]]) -> Iterator[str]:
    """Names of the cases in the harness."""
    yield from (f"test {number}" for number in range(1, len(tests) + 1))
    yield from (f"benchmark {number}" for number in range(1, len(benchmarks) + 1))


def _cases(given: object) -> list[dict[str, object]]:
    """The cases in a list of a task.yml: mappings of names to numbers or words."""
    if not isinstance(given, list):
        return []
    return [
        {str(key): value for key, value in case.items() if _is_plain(value)}
        for case in given
        if isinstance(case, dict) and None not in case.values()
    ]


def _is_plain(value: object) -> bool:
    """Whether a value is a number, a word or a list of these; a YAML list may contain itself."""
    return isinstance(value, int | float | str) or (
        isinstance(value, list) and all(isinstance(item, int | float | str) for item in value)
    )


def _refusal(
    given: Mapping[str, object],
    tree: ast.Module,
    sources: Mapping[str, str],
    tests: list[dict[str, object]],
    missing: Mapping[str, str],
) -> str:
    if given.get("lang", "py") != "py":
        return f"its language is {given.get('lang')}, and only Python tasks are run"
    if given.get("multi_gpu"):
        return "it needs several GPUs in one task"
    if _REFERENCE not in sources:
        return missing.get(_REFERENCE, "its task.yml names no reference.py")
    absent = [name for name in _NEEDED if name not in bound_names(tree)]
    if absent:
        return f"its reference.py defines no {' and no '.join(absent)}"
    texts = (parsed(text, name) for name, text in sources.items() if name.endswith(".py") and name != "eval.py")
    foreign = sorted(set().union(*(_required(text) for text in texts)) - {Path(name).stem for name in sources})
    if unread := [missing[f"{name}.py"] for name in foreign if f"{name}.py" in missing]:
        return unread[0]
    if foreign:
        return f"its reference imports {', '.join(foreign)}, which is not part of a task"
    return "" if tests else "its task.yml has no test with values for all arguments"


def _required(tree: ast.Module) -> set[str]:
    """Packages that a file imports at module level and that are part of neither Python nor torch."""
    top = ast.Module(
        body=[node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], type_ignores=[]
    )
    return {name for name in imported_packages(top) if name not in _AVAILABLE and name not in sys.stdlib_module_names}


def _rule(tree: ast.Module) -> OwnRule:
    """The tolerances in `make_match_reference(..., rtol=, atol=)` if they are literals, else the task's own code."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="make_match_reference"), keywords=keywords):
                given = {word.arg: word.value.value for word in keywords if isinstance(word.value, ast.Constant)}
                relative, absolute = (_number(given.get(key), default) for key, default in _DEFAULTS)
                return OwnRule(
                    kind=RuleKind.ALLCLOSE,
                    sentence=f"elements within {absolute:g} + {relative:g} x |expected|; the dtype is not compared",
                    closeness={"": Closeness(relative=relative, absolute=absolute)},
                    equal_nan=True,
                )
    return OwnRule(kind=RuleKind.OWN_CODE, sentence="the task's own check_implementation(data, output)")


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def _title(description: object, name: str) -> str:
    text = " ".join(description.split()) if isinstance(description, str) else ""
    return text.partition(". ")[0].removesuffix(".")[:160] or name.removesuffix("_py").replace("_", " ")


FORMAT = SuiteFormat(id="gpumode", title="GPU MODE", matches=matches, read=read)
