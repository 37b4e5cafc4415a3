"""A failed case as one file that needs torch and Triton, and nothing of ours."""
