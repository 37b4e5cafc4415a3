"""CUDA and C++ extensions in a run: built on the candidate's request, with errors located in its file.

A worker that lacks an extension ends with a request; `building` has it built and says what it came to, `diagnostics`
reads what the compilers wrote.
"""
