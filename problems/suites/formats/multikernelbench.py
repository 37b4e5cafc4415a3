"""MultiKernelBench: KernelBench's contract in `reference/<category>/<operator>.py`, with two styles of inputs.

`get_inputs()` gives one list of arguments; `get_input_groups()` of the NPU tasks gives several, made from a JSONL file
beside the task, which it finds through `__file__`. Accepted paths are a checkout, its `reference` folder, a category,
or one file with get_input_groups (https://github.com/wzzll123/MultiKernelBench).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from problems.suites.complaints import contents_of
from problems.suites.files import SuiteFileError, python_files, text_of
from problems.suites.rewriting.sizes import constants_of
from problems.suites.task import CandidateForm, Closeness, OwnRule, RuleKind, SuiteContents, SuiteFormat, Task
from problems.suites.texts.siblings import imported_siblings
from problems.suites.texts.syntax import Function, bound_names, functions, imported_packages, parsed

HARNESS = "multikernelbench"
_FOLDER, _GROUPS, _INPUTS = "reference", "get_input_groups", "get_inputs"
_NPU = frozenset({"torch_npu"})
_DATA = (".json", ".jsonl")

OWN_RULE = OwnRule(
    kind=RuleKind.ALLCLOSE,
    sentence="allclose with relative and absolute tolerance 1e-4 on 5 draws; the dtype is not compared",
    closeness={"": Closeness(relative=1e-4, absolute=1e-4)},
    draws=5,
)


def matches(path: Path) -> bool:
    """Whether this is a checkout, its reference folder, a category in it, or a task file with get_input_groups."""
    if path.is_dir():
        return bool(_categories(path))
    if path.suffix != ".py":
        return False
    try:
        return _GROUPS in functions(parsed(text_of(path, root=path.parent), str(path)))
    except SuiteFileError:
        return False


def read(path: Path) -> SuiteContents:
    """The tasks of a checkout, a category or a file."""
    return contents_of(_of_folder(path) if path.is_dir() else [_of(path, root=path.parent)])


def _categories(path: Path) -> list[Path]:
    """The folders of task files: of a checkout, of its reference folder, or the given folder itself."""
    real = path.resolve()
    if real.parent.name == _FOLDER and any(map(_is_task, sorted(path.glob("*.py"))[:3])):
        return [path]
    home = path / _FOLDER if (path / _FOLDER).is_dir() else path if real.name == _FOLDER else None
    if home is None:
        return []
    return [folder for folder in sorted(home.iterdir()) if folder.is_dir() and any(folder.glob("*.py"))]


def _is_task(file: Path) -> bool:
    try:
        text = text_of(file, root=file.parent)
    except SuiteFileError:
        return False
    return "class Model" in text and "def get_input" in text


def _of_folder(path: Path) -> Iterator[Task | SuiteFileError]:
    for folder in _categories(path):
        for file in python_files(folder, "*.py"):
            if file.name != "__init__.py":
                yield _of(file, root=path)


def _of(file: Path, *, root: Path) -> Task | SuiteFileError:
    try:
        text = text_of(file, root=root)
        tree = parsed(text, str(file))
        return _task(text, tree, file=file, root=root)
    except SuiteFileError as error:
        return error


def _task(text: str, tree: ast.Module, *, file: Path, root: Path) -> Task:
    """The task of a text.

    Raises:
        SuiteFileError: it lacks the class Model, or both kinds of inputs.
    """
    defined = functions(tree)
    if "Model" not in bound_names(tree):
        raise SuiteFileError(f"{file}: defines no Model, so it is not a task; left out")
    if _GROUPS not in defined and _INPUTS not in defined:
        raise SuiteFileError(f"{file}: defines neither {_INPUTS} nor {_GROUPS}, so it is not a task; left out")
    category = file.parent.resolve().name
    data, missing = _data(tree, file, root)
    return Task(
        name=f"{category}/{file.stem}",
        title=file.stem.lstrip("0123456789_").replace("_", " ") or file.stem,
        level=category,
        category=category,
        file=file,
        text=text,
        form=CandidateForm.MODULE,
        entry="ModelNew",
        harness=HARNESS,
        own_rule=OWN_RULE,
        cases=_cases(defined, data),
        sources={**imported_siblings(text, file, root=root), **data},
        constants=constants_of(text),
        details={"inputs": _GROUPS if _GROUPS in defined else _INPUTS, "stem": file.stem},
        refusal=_refusal(tree, missing),
    )


def _cases(defined: Mapping[str, Function], data: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the groups: one per row of the data file, or per item of the returned list."""
    if _GROUPS not in defined:
        return ()
    count = sum(bool(line.strip()) for text in data.values() for line in text.splitlines())
    returned = [node.value for node in ast.walk(defined[_GROUPS]) if isinstance(node, ast.Return)]
    if not data and len(returned) == 1 and isinstance(returned[0], ast.List):
        count = len(returned[0].elts)
    return tuple(f"group {number}" for number in range(1, max(count, 1) + 1))


def _refusal(tree: ast.Module, missing: list[str]) -> str:
    npu = sorted(_NPU & imported_packages(tree))
    if npu:
        return f"its reference imports {npu[0]}, which only Ascend machines have"
    return missing[0] if missing else ""


def _data(tree: ast.Module, file: Path, root: Path) -> tuple[dict[str, str], list[str]]:
    """The data files named in a text, and those named like the text's file, by their names in its folder."""
    named = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_data_file(node.value)
    }
    beside = {file.stem + ending for ending in _DATA}
    texts, missing = {}, []
    for name in sorted(named | beside):
        try:
            if name in named or (file.parent / name).exists():
                texts[name] = text_of(file.parent / name, root=root)
        except SuiteFileError as error:
            missing.append(str(error).removesuffix("; left out"))
    return texts, missing


def _is_data_file(value: str) -> bool:
    return value.endswith(_DATA) and Path(value).name == value and value not in _DATA


FORMAT = SuiteFormat(id="multikernelbench", title="MultiKernelBench", matches=matches, read=read)
