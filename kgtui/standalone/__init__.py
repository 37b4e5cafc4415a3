"""A failed case as one file that needs only torch and Triton, not kgtui."""
