"""Problems are found by their file names, quickly and without torch, and a broken module is refused by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import EngineError, UsageError
from problems.catalogue import LIBRARIES, Catalogue
from problems.index import ProblemIndex, open_index
from tests.guards import PATIENCE_S

HEAVY = ("torch", "numpy", "triton")

GOOD_MODULE = """
from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance

PROBLEM = ProblemDefinition(
    name="{source}::{stem}", entry="{stem}", signature="{stem}(x: Tensor) -> Tensor", summary="",
    category=Category.OTHER, cases=(Case(name="1", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={{}}),),
    make_inputs=None, reference=None, eager=None, tolerance=lambda case: Tolerance(relative=0, absolute=0),
    cost=lambda case: Cost(flops=0, bytes_read=0, bytes_written=0),
)
"""

SIGNATURES = {
    "aten::softmax": "softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor",
    "aten::add": "add(self: Tensor, other: Tensor, alpha: float = 1) -> Tensor",
    "aten::mm": "mm(self: Tensor, mat2: Tensor) -> Tensor",
    "aten::sum": (
        "sum(self: Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: DType | None = None) -> Tensor"
    ),
    "aten::cumsum": "cumsum(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor",
    "aten::embedding": (
        "embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, "
        "sparse: bool = False) -> Tensor"
    ),
    "aten::silu": "silu(self: Tensor) -> Tensor",
    "aten::gather": "gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool = False) -> Tensor",
    "vllm::rms_norm": "rms_norm(out: Tensor, input: Tensor, weight: Tensor, epsilon: float) -> None",
    "vllm::fused_add_rms_norm": (
        "fused_add_rms_norm(input: Tensor, residual: Tensor, weight: Tensor, epsilon: float) -> None"
    ),
    "vllm::rotary_embedding": (
        "rotary_embedding(positions: Tensor, query: Tensor, key: Tensor | None, head_size: int, "
        "cos_sin_cache: Tensor, is_neox: bool) -> None"
    ),
    "vllm::reshape_and_cache": (
        "reshape_and_cache(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor, "
        "kv_cache_dtype: str, k_scale: Tensor, v_scale: Tensor) -> None"
    ),
    "vllm::topk_softmax": (
        "topk_softmax(topk_weights: Tensor, topk_ids: Tensor, token_expert_indices: Tensor, gating_output: Tensor, "
        "renormalize: bool) -> None"
    ),
    "cublas::cublasSgemm_v2": (
        "cublasSgemm_v2(transa: str, transb: str, m: int, n: int, k: int, alpha: float, A: Tensor, lda: int, "
        "B: Tensor, ldb: int, beta: float, C: Tensor, ldc: int) -> Tensor"
    ),
    "cublas::cublasSaxpy_v2": (
        "cublasSaxpy_v2(n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int) -> Tensor"
    ),
}
"""What kernels are written against: a change here breaks every kernel that somebody has."""

INDEX = open_index()

PackageMaker = Callable[..., str]


def index_of(package: str) -> ProblemIndex:
    return ProblemIndex((Catalogue(package),))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageMaker]:
    """Makes an importable package of problem modules from {"aten/x.py": text} and returns its name."""

    def make(text_by_file: dict[str, str]) -> str:
        name = f"made_{tmp_path.name}"
        for file, text in text_by_file.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / name / "__init__.py").touch()
        monkeypatch.syspath_prepend(str(tmp_path))
        return name

    yield make
    for loaded in [module for module in sys.modules if module.startswith(f"made_{tmp_path.name}")]:
        del sys.modules[loaded]


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_the_libraries(name: str) -> None:
    assert INDEX.find(name).signature == SIGNATURES[name]


def test_catalogue_is_ordered_by_source_then_name() -> None:
    names = list(INDEX.names)
    assert names == sorted(names, key=lambda name: (LIBRARIES.index(name.partition("::")[0]), name))
    assert set(SIGNATURES) <= set(names)


def test_bare_name_in_one_source_finds_problem() -> None:
    assert INDEX.find("softmax") == INDEX.find("aten::softmax")
    assert INDEX.find("cublasSaxpy_v2").name == "cublas::cublasSaxpy_v2"


def test_bare_name_of_two_sources_lists_both(package: PackageMaker) -> None:
    made = package({f"{source}/norm.py": GOOD_MODULE.format(source=source, stem="norm") for source in ("aten", "vllm")})
    with pytest.raises(UsageError, match=r"'norm' is the name of several operators; .* aten::norm, vllm::norm$"):
        index_of(made).find("norm")
    assert index_of(made).find("vllm::norm").name == "vllm::norm"


def test_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no operator called 'sofmax'; did you mean aten::softmax"):
        INDEX.find("sofmax")


def test_part_of_name_suggests_matching_names() -> None:
    assert INDEX.nearest("sgem")[0] == "cublas::cublasSgemm_v2"


def test_unlike_name_points_to_the_list() -> None:
    with pytest.raises(UsageError, match="`kgtui problems list` shows them all"):
        INDEX.find("zzzzzzzz")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("sofmax", "aten::softmax"),
        ("aten:softmax", "aten::softmax"),
        ("RMS_Norm", "vllm::rms_norm"),
        ("sgemm", "cublas::cublasSgemm_v2"),
        ("vllm::softmax", "vllm::topk_softmax"),
    ],
)
def test_nearest_names_ignore_typos_case_and_source(typed: str, first: str) -> None:
    assert first in INDEX.nearest(typed)
    assert len(INDEX.nearest(typed)) <= 3


def test_unlike_name_has_no_nearest_names() -> None:
    assert INDEX.nearest("zzzzzzzz") == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", r"/aten/bad\.py: PROBLEM should be an engine\.model\.ProblemDefinition, is None"),
        ("PROBLEM = 'softmax'", r"/aten/bad\.py: PROBLEM should be an engine\.model\.ProblemDefinition, is 'softmax'"),
        (
            GOOD_MODULE.format(source="aten", stem="good"),
            r"/aten/bad\.py: PROBLEM\.name should be 'aten::bad' after the file, is 'aten::good'",
        ),
        ("import no_such_module", r"/aten/bad\.py: cannot be imported: ModuleNotFoundError: .*no_such_module"),
        ("PROBLEM = (", r"/aten/bad\.py: cannot be imported: SyntaxError: "),
        (
            GOOD_MODULE.format(source="aten", stem="bad").replace("cases=(Case(", "cases=() and (Case("),
            r"/aten/bad\.py: cannot be imported: ValueError: .*cases is empty",
        ),
    ],
)
def test_broken_module_is_refused_with_file_and_error(package: PackageMaker, text: str, complaint: str) -> None:
    made = package({"aten/bad.py": text, "aten/good.py": GOOD_MODULE.format(source="aten", stem="good")})
    with pytest.raises(EngineError, match=complaint):
        index_of(made).find("aten::bad")
    assert index_of(made).find("good").name == "aten::good"


def test_folders_without_source_are_not_scanned(package: PackageMaker) -> None:
    made = package({"kit/helper.py": "", "suites/format.py": "", "aten/__init__.py": ""})
    assert index_of(made).names == ()


OF_OPERATORS = "[m for m in sys.modules if m.startswith(('problems.aten.', 'problems.vllm.', 'problems.cublas.'))]"


def test_listing_imports_nothing_heavy_and_no_operator() -> None:
    program = f"""
import sys
from problems.index import open_index
index = open_index()
index.nearest("sofmax"), index.resolve("softmax"), index.describe("softmax")
described, broken = index.descriptions()
assert len(described) == len(index.names) and not broken
print([name for name in {HEAVY!r} if name in sys.modules], {OF_OPERATORS})
"""
    assert _printed_by(program) == "[] []"


def test_the_command_lists_operators_without_importing_one() -> None:
    program = f"""
import io, sys
from kgtui.cli.main import main
sys.stdout = out = io.StringIO()
code = main(["problems"])
sys.stdout = sys.__stdout__
print(code, out.getvalue().count("\\n"), [name for name in {HEAVY!r} if name in sys.modules], {OF_OPERATORS})
"""
    assert _printed_by(program) == f"0 {len(INDEX.names)} [] []"


def test_loading_every_operator_imports_nothing_heavy() -> None:
    program = f"""
import sys
from problems.index import open_index
index = open_index()
for name in index.names:
    problem = index.find(name)
    problem.arguments, problem.outputs
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    assert _printed_by(program) == "[]"


def test_finding_one_problem_imports_no_other() -> None:
    program = f"""
import sys
from problems.index import open_index
open_index().find("softmax")
print({OF_OPERATORS})
"""
    assert _printed_by(program) == "['problems.aten.softmax']"


def _printed_by(program: str) -> str:
    """What a fresh interpreter prints; this one has torch already."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stderr == ""
    return done.stdout.strip()
