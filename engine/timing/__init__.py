"""The parent's side of a benchmark: rounds, statistics, roofline and plausibility.

`bench` times the cases of a plan, `peak_measurement` measures the device.  Imports neither `run` nor `probes`.
"""
