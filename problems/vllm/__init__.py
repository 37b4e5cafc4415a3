"""Custom operators of the vLLM inference engine; most of them write into their arguments."""
