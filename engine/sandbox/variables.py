"""Environment variables by which the engine configures its child processes."""

WARM_TARGET_VARIABLE = "KGTUI_WARM_TARGET"
DRIVER_VARIABLE = "KGTUI_DRIVER"
DEVICE_VARIABLE = "KGTUI_DEVICE"
WARM_CACHE_VARIABLE = "KGTUI_WARM_CACHE"
MACHINE_VARIABLE = "KGTUI_MACHINE"
"""Set if kernels run on the machine: workers of the CPU."""
