"""Readers of a suite's texts that several formats share: definitions, calls, parts of a file, modules beside it.

Nothing here runs or imports anything of a suite, and no format is known here.
"""
