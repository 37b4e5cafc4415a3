"""CUDA and C++ extensions in a run: built when the candidate asks for them, and their errors placed in its file.

A worker that lacks an extension ends with a request; `building` has it built and says what it came to, `diagnostics`
reads what the compilers wrote.
"""
