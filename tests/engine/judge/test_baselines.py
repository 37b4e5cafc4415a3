"""Baselines: found, refused or ready; none is ever something else under its name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.devices import runtimes
from engine.errors import EngineError, UsageError
from engine.judge.baselines import BaselineError, baseline_named, baseline_names
from engine.judge.compare.outputs import Call, reports_of
from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.outputs import eager_outputs, expected_outputs, lay_out, output_names
from engine.model import CandidateForm, Case, Cost, DType, Outcome, ProblemDefinition, SuiteOrigin, Tier, Tolerance
from engine.protocol.tensors import value_of
from problems.rules.values import same_values
from tests.operators import definition, definitions

pytestmark = pytest.mark.sampled

CPU, CUDA = torch.device("cpu"), torch.device("cuda:0")
CASE = Case(name="one", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
OTHER = Case(name="other", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
PROBLEMS = definitions()
UNCOMPILED_ON_GPU = {
    "cublas::cublasZswap_v2": "complex128",
    "vllm::convert_vertical_slash_indexes": r"C\+\+ compile error",
    "vllm::cp_gather_cache": "recompiled",
    "vllm::ggml_moe_a8_vec": "NotImplementedError",
    "vllm::selective_scan_fwd": "Detected recompile",
}
"""Problems that torch.compile cannot make ready on a GPU, and what the reason says."""

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU; there is none here")
no_compiler = pytest.mark.skipif(
    baseline_named("compile").available(PROBLEMS["aten::silu"], CPU) != "",
    reason="torch.compile needs a C++ compiler on the CPU; none is on the PATH",
)


def toy(eager: Callable[..., Any], *, name: str = "toy::f") -> ProblemDefinition:
    """A problem of one tensor."""
    return ProblemDefinition(
        name=name,
        entry="f",
        signature="f(x: Tensor) -> Tensor",
        summary="",
        category="toy",
        cases=(CASE, OTHER),
        make_inputs=lambda case, rng: (torch.ones(4),),
        reference=eager,
        eager=eager,
        tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
    )


def smoke_cases() -> list[Any]:
    """One for each problem; all of a problem whose outputs a tolerance does not judge, or that returns no tensors."""
    return [
        pytest.param(problem, case, id=f"{problem.name} {case.name}")
        for problem in PROBLEMS.values()
        for case in smoke_of(problem)[: None if problem.compare is not None or problem.returns_scalar else 1]
    ]


def smoke_of(problem: ProblemDefinition) -> list[Case]:
    return [case for case in problem.cases if case.tier is Tier.SMOKE]


def inputs_of(problem: ProblemDefinition, case: Case, *, device: torch.device = CPU) -> tuple[Any, ...]:
    """Arguments on a device as an entry gets them, the same in every call."""
    with device:
        specs, storages = lay_out(problem, problem.make_inputs(case, torch.Generator(device).manual_seed(3)))
    return tuple(value_of(spec, storages) for spec in specs)


def wrong_outputs(
    problem: ProblemDefinition, case: Case, call: Callable[..., Any], *, device: torch.device = CPU
) -> dict[str, str]:
    """What the judge finds wrong with the outputs of `call` in this case: message by the name of the output."""
    arguments = inputs_of(problem, case, device=device)
    with device:
        expected = expected_outputs(problem, arguments)
    names = output_names(problem, lay_out(problem, arguments)[0], expected)
    got = [output.to(device) for output in eager_outputs(replace(problem, eager=call), arguments)]
    finished = Call(problem=problem, case=case, arguments=arguments, names=names, got=got, expected=expected)
    reports = reports_of(finished, poison=0xFF)
    return {report.name: report.message for report in reports if report.outcome is not Outcome.PASS}


@pytest.fixture(scope="module")
def compiler_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests: making it costs the compiler seconds."""
    return tmp_path_factory.mktemp("inductor")


@pytest.fixture
def compiler(compiler_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Imported here: it takes more than a second in every process that collects the tests.
    import torch._dynamo
    import torch._inductor.config

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(compiler_cache))
    if not torch.cuda.is_available():
        # Scalar code: finding out which vector instructions the C++ compiler knows takes 8 s.
        monkeypatch.setattr(torch._inductor.config.cpp, "vec_isa_ok", False)
    yield
    torch._dynamo.reset()


# Finding them


def test_baseline_names_resolve_to_modules() -> None:
    assert baseline_names() == ("compile", "compile-max", "cublas", "eager", "vllm")
    assert [baseline_named(name).NAME for name in baseline_names()] == list(baseline_names())


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(
        UsageError, match="unknown baseline 'fast': use one of compile, compile-max, cublas, eager, vllm"
    ):
        baseline_named("fast")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"half": "NAME = 'half'\ndef available(problem, device): return ''\n"}, r"half\.py does not define prepare"),
        ({"empty": ""}, r"empty\.py does not define NAME, available, prepare"),
        ({"count": "NAME = 3\navailable = prepare = print\n"}, r"count\.py: NAME should be a string, is 3"),
        (
            {"one": "NAME = 'x'\navailable = prepare = print\n", "two": "NAME = 'x'\navailable = prepare = print\n"},
            r"two\.py: another file already has the NAME 'x'",
        ),
    ],
    ids=["no prepare", "an empty file", "a name that is none", "one name twice"],
)
def test_module_without_baseline_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, texts: dict[str, str], message: str
) -> None:
    package = f"baselines_{abs(hash(message))}"
    (tmp_path / package).mkdir()
    for name, text in {"__init__": "", **texts}.items():
        (tmp_path / package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EngineError, match=f"{package}/{message}"):
        baseline_names(package=package)


def test_listing_the_names_loads_no_torch() -> None:
    script = (
        "import json, sys; from engine.judge.baselines import baseline_names; "
        "print(json.dumps([baseline_names(), sorted({'torch', 'triton', 'numpy'} & set(sys.modules))]))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == [list(baseline_names()), []]


# Eager, and what all share


@pytest.mark.parametrize(("problem", "case"), smoke_cases())
def test_eager_is_right_and_leaves_the_arguments_alone(problem: ProblemDefinition, case: Case) -> None:
    eager = baseline_named("eager")
    assert eager.available(problem, CPU) == ""
    arguments = inputs_of(problem, case)
    ready = eager.prepare(problem, case, arguments, CPU)
    assert same_values(arguments, inputs_of(problem, case))
    assert (wrong_outputs(problem, case, ready), ready.notes) == ({}, ())


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_has_cases_to_time(name: str) -> None:
    assert [case.name for case in PROBLEMS[name].cases if case.tier is Tier.BENCH]


def test_a_prepared_baseline_has_been_called() -> None:
    calls = []
    baseline_named("eager").prepare(toy(lambda x: calls.append(1)), CASE, (torch.ones(4),), CPU)
    assert calls == [1]


def test_failing_baseline_names_itself_case_and_reason() -> None:
    def failing(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no such luck")

    with pytest.raises(BaselineError, match="eager of one: ValueError: no such luck"):
        baseline_named("eager").prepare(toy(failing), CASE, (torch.ones(4),), CPU)


def test_argument_on_another_device_is_refused() -> None:
    calls = []
    with pytest.raises(BaselineError, match="eager of one: x is on cpu, expected cuda:0"):
        baseline_named("eager").prepare(toy(lambda x: calls.append(1)), CASE, ([1, torch.ones(4)],), CUDA)
    assert calls == []


def test_host_argument_stays_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    like_a_gpu = SimpleNamespace(TORCH_TYPE="meta", synchronise=lambda device: None)
    monkeypatch.setattr(runtimes, "RUNTIMES", (*runtimes.RUNTIMES, like_a_gpu))
    devices: list[str] = []
    problem = replace(
        toy(lambda x, sizes: devices.extend((x.device.type, sizes.device.type))),
        signature="f(x: Tensor, sizes: Tensor) -> Tensor",
        on_cpu=("sizes",),
    )
    eager, meta = baseline_named("eager"), torch.device("meta")
    there, here = torch.ones(4, device=meta), torch.ones(4)
    eager.prepare(problem, CASE, (there, here), meta)
    assert devices == ["meta", "cpu"]
    with pytest.raises(BaselineError, match="eager of one: sizes is on meta, expected cpu"):
        eager.prepare(problem, CASE, (there, there), meta)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).view(3, 4),
        torch.arange(12.0).view(3, 4).T,
        torch.arange(24.0).view(3, 8)[:, ::2],
        torch.arange(4.0).expand(3, 4),
        torch.arange(9.0)[1:],
        torch.arange(9.0)[5:],
        torch.empty(0, 4),
        torch.ones(()),
    ],
    ids=["contiguous", "transposed", "strided", "expanded", "offset", "far offset", "empty", "scalar"],
)
def test_private_copy_equals_tensor_in_other_memory(tensor: torch.Tensor) -> None:
    before = tensor.clone()
    (copy,) = private_copies((tensor,))
    assert isinstance(copy, torch.Tensor)
    assert (copy.shape, copy.stride(), copy.dtype) == (tensor.shape, tensor.stride(), tensor.dtype)
    assert torch.equal(copy, tensor)
    assert copy.numel() == 0 or copy.data_ptr() % 16 == tensor.data_ptr() % 16
    if copy.numel():
        copy.as_strided((1,), (1,)).fill_(-1.0)
        assert not torch.equal(copy, tensor)
    assert torch.equal(tensor, before)


def test_nontensor_values_are_copied_unchanged() -> None:
    inner = torch.ones(2)
    number, text, dtype, none, (first, (second,)) = private_copies((3, "N", torch.int32, None, [inner, (inner,)]))  # type: ignore[misc]
    assert (number, text, dtype, none) == (3, "N", torch.int32, None)
    assert first is not inner and second is not inner


# torch.compile


@no_compiler
@pytest.mark.parametrize("name", ["compile", "compile-max"])
def test_compiled_baseline_is_right_and_compiles_once(compiler: None, name: str) -> None:
    problem = definition("vllm::rms_norm")
    case = smoke_of(problem)[0]
    ready = baseline_named(name).prepare(problem, case, inputs_of(problem, case), CPU)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert (wrong_outputs(problem, case, ready), ready.notes) == ({}, ())


@no_compiler
def test_ready_baseline_stays_compiled_beside_others(compiler: None) -> None:
    problem = toy(lambda x: x.sin() + 1)
    with torch._dynamo.config.patch(recompile_limit=1):
        one = baseline_named("compile").prepare(problem, CASE, (torch.ones(4),), CPU)
        other = baseline_named("compile").prepare(problem, OTHER, (torch.ones(3, 5),), CPU)
        with torch.compiler.set_stance("fail_on_recompile"):
            assert torch.allclose(one(torch.full((4,), 2.0)), torch.full((4,), 2.0).sin() + 1)
            assert torch.allclose(other(torch.full((3, 5), 2.0)), torch.full((3, 5), 2.0).sin() + 1)


@no_compiler
def test_baseline_with_graph_break_is_reported(compiler: None) -> None:
    def in_two(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    ready = baseline_named("compile").prepare(toy(in_two), CASE, (torch.ones(4),), CPU)
    assert torch.allclose(ready(torch.full((4,), 2.0)), torch.full((4,), 2.0).sin().cos())
    (note,) = ready.notes
    assert note.startswith("compiled in 2 pieces, not as one graph: ")


@no_compiler
def test_eager_fallback_is_not_reported_as_compiled(compiler: None) -> None:
    @torch.compiler.disable
    def hidden(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    with pytest.raises(BaselineError, match=r"compile of one: torch\.compile compiled nothing and ran it eagerly"):
        baseline_named("compile").prepare(toy(lambda x: hidden(x)), CASE, (torch.ones(4),), CPU)


@no_compiler
@pytest.mark.parametrize("suppressed", [False, True])
def test_compiler_failure_is_error_with_suppressed_errors(compiler: None, suppressed: bool) -> None:
    def in_two(x: torch.Tensor) -> torch.Tensor:
        y = x.tan()
        torch._dynamo.graph_break()
        return y.exp()

    broken = torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler",)})
    with broken, torch._dynamo.config.patch(suppress_errors=suppressed), pytest.raises(BaselineError) as caught:
        baseline_named("compile").prepare(toy(in_two), CASE, (torch.ones(4),), CPU)
    assert str(caught.value).startswith("compile of one: ")
    assert "no-such-compiler" in str(caught.value) or "C++ compiler" in str(caught.value)


@no_compiler
def test_call_recompiled_every_time_is_refused(compiler: None) -> None:
    seen: list[int] = []

    def changing(x: torch.Tensor) -> torch.Tensor:
        y = x * len(seen)
        seen.append(1)
        return y

    with pytest.raises(BaselineError, match="each of 4 equal calls was recompiled; it cannot be timed"):
        baseline_named("compile").prepare(toy(changing), CASE, (torch.ones(4),), CPU)


@no_compiler
def test_call_recompiled_later_is_refused(compiler: None) -> None:
    seen: list[bool] = []

    @torch.compiler.disable
    def is_third() -> bool:
        seen.append(True)
        return len(seen) >= 3

    with pytest.raises(BaselineError, match="compile of one: RuntimeError: Detected recompile"):
        baseline_named("compile").prepare(
            toy(lambda x: x.sin() if is_third() else x.cos()), CASE, (torch.ones(4),), CPU
        )


@pytest.mark.gpu
@no_gpu
@pytest.mark.parametrize("name", ["compile", "compile-max"])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_compiled_baseline_is_right_on_a_gpu(compiler: None, problem: ProblemDefinition, name: str) -> None:
    case = smoke_of(problem)[0]
    arguments = inputs_of(problem, case, device=CUDA)
    if problem.name in UNCOMPILED_ON_GPU:
        with pytest.raises(BaselineError, match=UNCOMPILED_ON_GPU[problem.name]):
            baseline_named(name).prepare(problem, case, arguments, CUDA)
        return
    ready = baseline_named(name).prepare(problem, case, arguments, CUDA)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert wrong_outputs(problem, case, ready, device=CUDA) == {}


# cuBLAS and vLLM


def test_cublas_reports_its_missing_parts() -> None:
    cublas = baseline_named("cublas")
    assert cublas.available(PROBLEMS["aten::softmax"], CUDA) == "cuBLAS has no routine for aten::softmax"
    assert cublas.available(PROBLEMS["aten::mm"], CPU) == (
        "cuBLAS needs an NVIDIA device and a CUDA build of torch; this device is cpu"
    )


def test_every_cublas_problem_has_its_routine() -> None:
    cublas = baseline_named("cublas")
    named = [name for name in PROBLEMS if "no routine" not in cublas.available(PROBLEMS[name], CPU)]
    assert named == ["aten::mm", *(name for name in PROBLEMS if name.startswith("cublas::"))]


@pytest.fixture
def vllm_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A vllm with one operator, which doubles its argument in place."""
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").touch()
    (tmp_path / "vllm" / "_custom_ops.py").write_text("def f(x):\n    x.mul_(2)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("vllm", "vllm._custom_ops"):
        sys.modules.pop(name, None)


def test_vllm_reports_its_missing_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm, problem = baseline_named("vllm"), PROBLEMS["vllm::rms_norm"]
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    assert vllm.available(PROBLEMS["aten::mm"], CUDA) == "aten::mm is not an operator of vLLM"
    assert vllm.available(problem, CPU) == "vLLM's operators need a GPU; this device is cpu"
    assert vllm.available(problem, CUDA) == "vllm is not installed in this environment"


def test_vllm_is_detected_without_import(vllm_installed: None) -> None:
    assert baseline_named("vllm").available(PROBLEMS["vllm::rms_norm"], CUDA) == ""
    assert "vllm" not in sys.modules


def test_vllm_operator_gets_arguments_of_the_entry(vllm_installed: None) -> None:
    problem = replace(toy(lambda x: None, name="vllm::f"), returns=0, mutates=("x",))
    x = torch.ones(4)
    ready = baseline_named("vllm").prepare(problem, CASE, (x,), CPU)
    assert x.tolist() == [1.0] * 4
    assert ready(x) is None
    assert x.tolist() == [2.0] * 4


def test_operator_missing_in_installed_vllm_is_error(vllm_installed: None) -> None:
    problem = replace(toy(lambda x: None, name="vllm::g"), entry="g", signature="g(x: Tensor) -> Tensor")
    with pytest.raises(BaselineError, match=r"vllm of one: vllm\._custom_ops\.g: AttributeError"):
        baseline_named("vllm").prepare(problem, CASE, (torch.ones(4),), CPU)


@pytest.mark.parametrize("name", ["eager", "compile", "compile-max"])
def test_problem_of_a_suite_not_timed_by_judge(name: str) -> None:
    origin = SuiteOrigin(suite="A suite", form=CandidateForm.MODULE, own_rule="")
    foreign = replace(definition("aten::silu"), suite=origin)
    assert "runs in another process, which times it" in baseline_named(name).available(foreign, CPU)
