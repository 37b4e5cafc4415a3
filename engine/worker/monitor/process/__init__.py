"""What a candidate does to its process: files, functions, modules, settings, threads, machine code."""
