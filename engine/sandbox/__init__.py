"""Rights of a child process: dropped privileges, readable files, and bounded reading of its files.

Child processes import this room.  It starts no process and imports no other room but `protocol` and `model`.
"""
