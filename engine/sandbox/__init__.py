"""What a child process may do: the rights it gives up, what it may read, and bounded reading of its files.

Child processes import this room.  It starts no process and imports no other room but `protocol` and `model`.
"""
