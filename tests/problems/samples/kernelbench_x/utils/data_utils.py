import torch


def rand_tensor(shape, *, dtype=torch.float32, device="cuda", mode="standard", outlier_prob=0.001, outlier_scale=50.0):
    values = torch.randn(*shape, device=device, dtype=dtype)
    if mode == "outlier":
        chosen = torch.rand(*shape, device=device) < outlier_prob
        values = torch.where(chosen, values * outlier_scale, values)
    return values
