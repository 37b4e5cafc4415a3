import torch


def match_reference(data, output, reference, rtol=1e-05, atol=1e-08):
    expected = reference(data)
    wrong = (torch.abs(output - expected) > atol + rtol * torch.abs(expected)).count_nonzero().item()
    if wrong:
        return False, f"mismatch found! {wrong} elements differ"
    return True, ""


def make_match_reference(reference, **kwargs):
    def wrapped(data, output):
        return match_reference(data, output, reference=reference, **kwargs)

    return wrapped
