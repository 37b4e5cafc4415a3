"""Triton's interpreter made safe and complete enough to verify kernels on a CPU; used by workers only."""
