"""Loading a candidate in a child process, and mapping its exceptions to typed failures.

Workers and compilers share this room; it imports neither of them.
"""
