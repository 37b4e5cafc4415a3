import torch
from task import input_t, output_t
from utils import make_match_reference


def ref_kernel(data: input_t) -> output_t:
    matrix, factors = data
    return matrix * factors[:, None]


def generate_input(m: int, n: int, seed: int) -> input_t:
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    matrix = torch.randn(m, n, device="cuda", dtype=torch.float16, generator=generator).contiguous()
    factors = torch.randn(m, device="cuda", dtype=torch.float16, generator=generator).contiguous()
    return matrix, factors


check_implementation = make_match_reference(ref_kernel, rtol=1e-2, atol=1e-3)
