"""Plans of modules, which are kept from launch to launch."""

from __future__ import annotations

import gc
import weakref

import pytest

from engine.machine.errors import LimitError
from engine.machine.plan import plan_module
from engine.machine.results import Limits
from tests.engine.machine.test_executor import add_kernel


def test_second_launch_of_module_reuses_plan():
    kernel = add_kernel(64)
    assert plan_module(kernel, Limits()) is plan_module(kernel, Limits())


def test_equal_modules_have_separate_plans():
    assert plan_module(add_kernel(64), Limits()) is not plan_module(add_kernel(64), Limits())


def test_plan_of_module_names_accessed_arguments():
    plan = plan_module(add_kernel(64), Limits())
    assert (plan.accessed.written, plan.accessed.read) == (frozenset({2}), frozenset({0, 1}))
    assert (plan.waits, plan.largest_elements) == (False, 64)


def test_kept_plan_does_not_replace_narrower_limits():
    kernel = add_kernel(64)
    plan_module(kernel, Limits())
    with pytest.raises(LimitError, match="64 elements; the limit is 32"):
        plan_module(kernel, Limits(tensor_elements=32))


def test_plan_does_not_keep_its_module():
    kernel = add_kernel(64)
    plan_module(kernel, Limits())
    reference = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert reference() is None
