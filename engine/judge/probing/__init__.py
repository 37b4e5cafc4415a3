"""What the judge computes for probes: unusual inputs, contrasts of calls, precision, correctness without kernels."""
