"""The reference process: runs the reference code of a foreign suite, and no other foreign code.

Confined like a worker.  It shares no memory with judge or worker and never sees a candidate; the judge draws the
seeds, gets bytes and compares.  What knows a format is a harness, a module that is named in the question.
"""
