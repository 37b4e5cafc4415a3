"""Kernel launches in a worker: recorded, withheld, looked up in the kernel cache, and tuned."""
