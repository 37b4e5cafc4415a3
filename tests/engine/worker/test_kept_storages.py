"""Storages have the bytes that were requested for them, without the zone behind them, during a call and after it."""

from __future__ import annotations

import torch

from engine.worker import kept_storages
from engine.worker.kept_storages import requested_bytes
from engine.worker.monitor.device.guard_zones import ZONE_BYTES, GuardZones

CPU = torch.device("cpu")


def test_tensor_has_requested_bytes_beside_its_zone() -> None:
    with GuardZones(0xFF, CPU):
        made, enlarged = torch.zeros(5), torch.zeros(5)
        enlarged.resize_(10)
        assert [requested_bytes(one.untyped_storage()) for one in (made, enlarged)] == [20, 20 + ZONE_BYTES]


def test_kept_tensor_has_requested_bytes_after_its_zone() -> None:
    with GuardZones(0xFF, CPU) as zones:
        kept, larger = torch.zeros(5), torch.zeros(5)
    zones.check()
    larger.untyped_storage().resize_(2 * ZONE_BYTES)
    assert requested_bytes(kept.untyped_storage()) == 20
    assert requested_bytes(larger.untyped_storage()) == 2 * ZONE_BYTES


def test_storage_that_is_gone_is_forgotten() -> None:
    with GuardZones(0xFF, CPU) as zones:
        kept = torch.zeros(5)
    zones.check()
    gone, *_ = kept_storages._kept[kept.untyped_storage().data_ptr()]
    del kept
    with GuardZones(0xFF, CPU) as zones:
        torch.zeros(5)
    zones.check()
    assert all(one is not gone for one, *_ in kept_storages._kept.values())
