"""What readers of several formats find in the texts of a suite: definitions, calls, parts of a file, modules beside it.

Nothing here runs or imports anything of a suite, and no format is known here.
"""
