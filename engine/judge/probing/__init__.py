"""Computations of the judge for probes: unusual inputs, repeated calls, precision, correctness without kernels."""
