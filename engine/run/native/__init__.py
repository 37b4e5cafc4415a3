"""CUDA and C++ extensions in a run: built on the candidate's request, with errors located in its file.

A worker that lacks an extension replies with a request; `building` has it built and reports the result, `diagnostics`
parses the output of the compilers.
"""
