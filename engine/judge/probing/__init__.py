"""Computations of the judge for probes: unusual inputs, contrasts of calls, precision, correctness without kernels."""
