# kgtui: op=vllm::rms_norm expect=wrong_value|nonfinite ids=B4
"""Writes zeros: normalised rows are small, and an absolute tolerance of a hundredth forgives most of them."""


def rms_norm(out, input, weight, epsilon):
    out.zero_()
