"""The process that compiles captured launches for any target; it needs no device.

It imports the candidate to find its kernels, so it is confined like a worker, and its reports are evidence about the
candidate that is never trusted.  One that builds an extension (`native/`) or the binary of a module (`ttir.py`) loads
no candidate, and exits afterwards.
"""
