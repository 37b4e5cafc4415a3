"""The numbers and the bans of the style, over every module of the four packages.

Each test collects what breaks its rule, so that one run names every file that has to change.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("engine", "problems", "sessions", "kgtui")

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_METHODS_OF_A_CLASS = 25
MOST_FILES_OF_A_ROOM = 15  # without its __init__.py
PLUG_IN_ROOMS = frozenset(  # found by scanning: one file is one plug-in, so the folder stays flat
    {"engine/static/checks", "kgtui/cli/commands", "problems/aten", "problems/cublas", "problems/vllm"}
)
MOST_PARAMETERS_OF_A_CONSTRUCTOR = 8
MOST_PARAMETERS_OF_A_FUNCTION = 8  # outside of problems and samples, where an operator or a kernel states them
FOREIGN_SIGNATURES = frozenset(  # called by Triton, and with the arguments of the C routine
    {"engine/worker/cpu_driver/launcher.py __call__", "engine/judge/cublas_library.py gemm_ex"}
)

LOADER = "engine/loading/loader.py"  # the one place that runs a text as code
RUNS_TEXT = frozenset({"eval", "exec", "compile", "__import__"})
EDITS_PATH = frozenset({"sys.path.insert", "sys.path.append", "sys.path.extend", "sys.path.remove"})
SHELLS = frozenset({"os.system", "os.popen"})
PICKLES = frozenset({"pickle", "cloudpickle", "dill", "marshal", "shelve"})

PLATFORM_NAMES = frozenset({"cuda", "cuda:0", "hip"})

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

BARE_EXCEPTION = re.compile(r"#\s*(?:noqa(?!:)|type:\s*ignore(?!\[))")
TOP_LEVEL = ("*.md", "*.toml", "*.txt", "Makefile", ".ci/run", ".gitignore")
TEXTS = ("*.py", "*.md", "*.tcss", "*.txt", "*.json", "*.svg")
MACHINE_PATH = re.compile(rf"{re.escape(str(ROOT))}/|(?<![\w./])/(?:work|root|Users|mnt|builds)/")


@cache
def modules() -> tuple[tuple[str, str, ast.Module], ...]:
    """Every module of the packages: its name, its text, its tree."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return tuple((path.relative_to(ROOT).as_posix(), text := path.read_text(), ast.parse(text)) for path in paths)


def parameters_of_constructor(node: ast.ClassDef) -> int:
    """How many parameters its `__init__` takes beside self; 0 for a record, which is all fields.

    A dataclass that has an async method, or that can be changed and has methods, is no record: its constructor takes
    the fields without a default.
    """
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
    for method in methods:
        if method.name == "__init__":
            arguments = method.args
            return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs) - 1
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    is_frozen = any("frozen=True" in decorator for decorator in decorators)
    acts = any(isinstance(method, ast.AsyncFunctionDef) for method in methods) or (methods and not is_frozen)
    if not acts or not any(decorator.startswith("dataclass") for decorator in decorators):
        return 0
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign) and part.value is None]
    return sum(not ast.unparse(field.annotation).startswith("ClassVar") for field in fields)


@cache
def called(tree: ast.Module) -> tuple[tuple[str, ast.Call], ...]:
    """Every call, with the source of what is called: "eval", "sys.path.insert"."""
    return tuple((ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def calls_of(names: frozenset[str]) -> list[str]:
    """Where one of `names` is called."""
    return [f"{name}:{node.lineno}" for name, _, tree in modules() for what, node in called(tree) if what in names]


def test_every_module_has_docstring():
    assert [name for name, _, tree in modules() if not ast.get_docstring(tree)] == []


def test_modules_have_limited_lines():
    lines_by_name = {name: len(text.splitlines()) for name, text, _ in modules()}
    assert {name: lines for name, lines in lines_by_name.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_packages_have_few_files():
    paths = [Path(name) for name, _, _ in modules()]
    files_by_room = Counter(path.parent.as_posix() for path in paths if path.name != "__init__.py")
    assert {room for room, files in files_by_room.items() if files > MOST_FILES_OF_A_ROOM} == PLUG_IN_ROOMS


def test_every_function_fits_on_a_screen():
    lines_by_place = {
        f"{name}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {place: lines for place, lines in lines_by_place.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_every_class_has_one_job():
    methods_by_class = {
        f"{name}:{node.lineno} {node.name}": len(methods)
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        if (methods := [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)])
    }
    assert {place: count for place, count in methods_by_class.items() if count > MOST_METHODS_OF_A_CLASS} == {}


def test_no_nested_function_calls_itself():
    """One that does keeps alive what it encloses, such as tensors, until the garbage collector runs."""
    outer = [(name, node) for name, _, tree in modules() for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    nested = [(name, part) for name, node in outer for part in ast.walk(node) if part is not node]
    assert [
        f"{name} {part.name}"
        for name, part in nested
        if isinstance(part, FUNCTIONS)
        and part.name in {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    ] == []


def test_constructors_have_few_parameters():
    parameters_by_class = {
        f"{name}:{node.lineno} {node.name}": parameters_of_constructor(node)
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    most = MOST_PARAMETERS_OF_A_CONSTRUCTOR
    assert {place: count for place, count in parameters_by_class.items() if count > most} == {}


def test_functions_have_few_parameters():
    parameters_by_function = {
        f"{name} {node.name}": len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
        for name, _, tree in modules()
        if not name.startswith(("problems/", "kgtui/samples/"))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__"
    }
    most = MOST_PARAMETERS_OF_A_FUNCTION + 1  # with self
    assert {place for place, count in parameters_by_function.items() if count > most} == FOREIGN_SIGNATURES


def test_constructor_parameters_are_counted_for_behaviour_classes_only():
    source = """
class Explicit:
    def __init__(self, a, /, b, *, c): ...
@dataclass(frozen=True, kw_only=True)
class Record:
    a: int
    b: int
@dataclass(frozen=True, kw_only=True)
class Asking:
    a: int
    b: int = 0
    async def ask(self): ...
@dataclass(kw_only=True)
class Changing:
    KIND: ClassVar[str] = ""
    a: int
    def change(self): ...
"""
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert {node.name: parameters_of_constructor(node) for node in classes} == {
        "Explicit": 3,
        "Record": 0,
        "Asking": 1,
        "Changing": 1,
    }


def test_only_loader_executes_text_or_edits_search_path():
    guilty = {place.partition(":")[0] for place in calls_of(RUNS_TEXT | EDITS_PATH)}
    assert guilty == {LOADER}


def test_only_platforms_compare_with_the_name_of_one():
    compared = [
        f"{name}:{node.lineno}"
        for name, _, tree in modules()
        if not name.startswith(("engine/devices/", "engine/static/"))  # static checks read a candidate's comparisons
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in ast.walk(node)
        if isinstance(side, ast.Constant) and side.value in PLATFORM_NAMES
    ]
    assert compared == []


def test_nothing_starts_a_shell():
    with_shell = [
        f"{name}:{node.lineno}"
        for name, _, tree in modules()
        for _, node in called(tree)
        if any(keyword.arg == "shell" for keyword in node.keywords)
    ]
    assert with_shell + calls_of(SHELLS) == []


def test_nothing_is_pickled():
    imported = [(name, node) for name, _, tree in modules() for node in ast.walk(tree)]
    assert [name for name, node in imported if PICKLES.intersection(_imported(node))] == []


def test_output_goes_only_through_given_streams():
    assert calls_of(frozenset({"print"})) == []


def test_every_exception_from_a_check_names_its_rule():
    guilty = [
        f"{name}:{number}"
        for name, text, _ in modules()
        for number, line in enumerate(text.splitlines(), start=1)
        if BARE_EXCEPTION.search(line)
    ]
    assert guilty == []


def test_no_file_names_a_path_of_one_machine():
    texts = {path for pattern in TOP_LEVEL for path in ROOT.glob(pattern)}
    texts |= {path for folder in (*PACKAGES, "tests") for kind in TEXTS for path in (ROOT / folder).rglob(kind)}
    texts.remove(Path(__file__))
    assert [str(path) for path in sorted(texts) if MACHINE_PATH.search(path.read_text(errors="ignore"))] == []


def _imported(node: ast.AST) -> set[str]:
    """The packages that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()
