"""The reference process: runs the reference code of a foreign suite, and no other foreign code.

Confined like a worker.  It shares no memory with judge or worker and never has a candidate; the judge draws the seeds,
gets bytes and compares.  A harness, a module named in the request, is the code for a suite's format.
"""
