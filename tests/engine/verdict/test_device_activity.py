"""Whose kernels did the work, from a record whose every entry is known."""

from __future__ import annotations

import pytest

from engine import protocol
from engine.model import Severity
from engine.verdict.device_activity import Origin, facts, findings, origin_of, shares, unknown_kernels
from engine.verdict.native_symbols import NativeKernels

KERNEL, COPY = protocol.ActivityKind.KERNEL, protocol.ActivityKind.COPY
TORCH_ADD = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIfEEEEviT0_T1_"
TORCH_FILL = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_"
GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_execute_kernel__5x_cublas"


def ran(
    name: str, device_ns: int, *, own: bool = False, file: str = "", replayed: bool = False
) -> protocol.ActivitySeen:
    return protocol.ActivitySeen(kind=KERNEL, name=name, own=own, file=file, replayed=replayed, device_ns=device_ns)


def recorded(
    *activities: protocol.ActivitySeen,
    late: tuple[str, ...] = (),
    nodes: tuple[protocol.NodeSeen, ...] = (),
) -> protocol.Recorded:
    return protocol.Recorded(
        id="i", returned=(), activities=activities, late=late, nodes=nodes, uncaptured="" if nodes else "it waits"
    )


def found(record: protocol.Recorded) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.message) for finding in findings("c", record)]


@pytest.mark.parametrize(
    ("activity", "origin"),
    [
        (ran("softmax_kernel", 1, own=True), Origin.OWN),
        (ran("softmax_kernel", 1), Origin.UNKNOWN),
        (ran("triton_poi_fused_add_0", 1, file="/tmp/inductor/k.py"), Origin.COMPILED),
        (ran(TORCH_ADD, 1), Origin.TORCH),
        (ran("_Z19compute_cuda_kernelIiEvPKT_PKlPS0_ll", 1), Origin.TORCH),
        (ran("compute_cuda_kernel", 1), Origin.UNKNOWN),
        (ran(TORCH_FILL, 1), Origin.MOVES),
        (ran("_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb", 1), Origin.MOVES),
        (ran(GEMM, 1), Origin.LIBRARY),
        (ran("nvjet_sm90_hsh_64x48_64x15_2x4_h_bz_NNT", 1), Origin.LIBRARY),
        (ran("_ZN8internal5gemvx6kernelIiiffffLb0EEEv18cublasGemvParamsEx", 1), Origin.LIBRARY),
        (protocol.ActivitySeen(kind=COPY, device_ns=1), Origin.COPIES),
    ],
)
def test_origin_is_found_by_function_then_name(activity: protocol.ActivitySeen, origin: Origin) -> None:
    assert origin_of(activity) is origin


def test_work_in_own_kernels_is_fact() -> None:
    record = recorded(ran("softmax_kernel", 9_500, own=True), protocol.ActivitySeen(kind=COPY, device_ns=500))
    assert found(record) == []
    assert [(fact.name, fact.value) for fact in facts("c", record)] == [
        ("its own kernels", "95% of 10 us in c, launches: 1 (softmax_kernel)"),
        ("copies and fills of the driver", "5% of 10 us in c, launches: 1"),
        ("other streams", "0"),
        ("graph of a call", "none: it waits"),
    ]


def test_copies_alone_are_accepted_only_for_copying_operators() -> None:
    record = recorded(ran(TORCH_FILL, 500), protocol.ActivitySeen(kind=COPY, device_ns=500))
    assert found(record) == [(Severity.SUSPECT, "no device time in kernels of this file")]
    assert list(findings("c", record, may_copy=True)) == []
    computing = recorded(ran(TORCH_ADD, 1000))
    assert len(list(findings("c", computing, may_copy=True))) == 2


def test_shares_are_summed_by_origin_longest_first() -> None:
    own, library = shares(recorded(ran("a", 10, own=True), ran(GEMM, 5), ran("b", 20, own=True)))
    assert (own.origin, own.device_ns, own.launches, own.names) == (Origin.OWN, 30, 2, ("a", "b"))
    assert (library.origin, library.device_ns) == (Origin.LIBRARY, 5)


def test_computing_library_is_suspect_with_its_share() -> None:
    ((severity, message),) = found(recorded(ran("copy_kernel", 20, own=True), ran(GEMM, 80)))
    assert severity is Severity.SUSPECT
    assert message.startswith("80% of device time is in library kernels: sm80_xmma_gemm_f32f32")


def test_kernel_named_like_own_is_still_foreign() -> None:
    assert found(recorded(ran("silu_kernel", 80))) == [
        (Severity.SUSPECT, "100% of device time is in kernels of unknown origin: silu_kernel"),
        (Severity.SUSPECT, "no device time in kernels of this file"),
    ]


def test_small_share_of_foreign_kernels_has_no_finding() -> None:
    assert found(recorded(ran("own", 91, own=True), ran(GEMM, 9))) == []


@pytest.mark.parametrize(("theirs", "severity"), [(10, Severity.HINT), (74, Severity.HINT), (75, Severity.SUSPECT)])
def test_pytorch_taking_most_time_is_suspect(theirs: int, severity: Severity) -> None:
    ((reported, _),) = found(recorded(ran("own", 100 - theirs, own=True), ran(TORCH_ADD, theirs)))
    assert reported is severity


def test_pytorch_fills_and_moves_are_not_flagged() -> None:
    assert found(recorded(ran("own", 10, own=True), ran(TORCH_FILL, 90))) == []


def test_work_after_the_return_is_suspect() -> None:
    assert found(recorded(ran("own", 10, own=True), late=("own", "own"))) == [
        (Severity.SUSPECT, "work was submitted to the device after the call had returned: own")
    ]


def test_graph_kernel_missing_in_record_is_suspect() -> None:
    nodes = (protocol.NodeSeen(name="own", own=True), protocol.NodeSeen(name="hidden", own=False))
    assert found(recorded(ran("own", 10, own=True), nodes=nodes)) == [
        (Severity.SUSPECT, "the graph of the call has kernels that its record does not show: hidden")
    ]
    reported = {fact.name: fact.value for fact in facts("c", recorded(ran("own", 10, own=True), nodes=nodes))}
    assert reported["graph of a call"] == "1 of 2 kernels are its own"


def test_foreign_kernel_names_are_escaped_and_cut() -> None:
    (_, message), *_ = found(recorded(ran("a\nb" * 100, 10)))
    assert "a?ba?b" in message
    assert len(message) < 200


NATIVE = NativeKernels(names=frozenset({"gemm_tiles"}))
OWN_GEMM = "_Z10gemm_tilesPKfS0_Pf"


def test_cuda_source_kernel_is_own_by_name() -> None:
    assert origin_of(ran(OWN_GEMM, 1), NATIVE) is Origin.NATIVE
    assert origin_of(ran(OWN_GEMM, 1)) is Origin.LIBRARY
    assert origin_of(ran(GEMM, 1), NATIVE) is Origin.LIBRARY
    assert origin_of(ran(TORCH_ADD, 1), NATIVE) is Origin.TORCH


def test_file_with_computing_cuda_source_has_no_finding() -> None:
    assert not list(findings("c", recorded(ran(OWN_GEMM, 100)), native=NATIVE))


def test_library_called_by_cuda_source_is_named() -> None:
    record = recorded(ran(OWN_GEMM, 10), ran(GEMM, 90))
    (finding,) = findings("c", record, native=NATIVE)
    assert (finding.severity, finding.message) == (
        Severity.SUSPECT, f"90% of device time is in library kernels: {GEMM[:60]}",
    )  # fmt: skip


def test_timed_cuda_source_kernels_are_not_foreign() -> None:
    assert not unknown_kernels("c", {OWN_GEMM: 100}, own=frozenset(), of="device time", native=NATIVE)
    assert unknown_kernels("c", {OWN_GEMM: 100}, own=frozenset(), of="device time")
