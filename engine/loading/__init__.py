"""Loading a candidate in a child process, and turning what it raises into a typed failure.

Workers and compilers share this room; it imports neither of them.
"""
