"""One run as frozen records: its cases, failures, kernels and log."""
