"""Records of a candidate's effects on its process: files, functions, modules, settings, threads, machine code."""
