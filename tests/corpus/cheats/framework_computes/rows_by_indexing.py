# kgtui: op=aten::embedding expect=pass finding=behaviour|no_launch ids=D1,A21
"""A lookup by the indexing of torch, with no kernel at all; only its name and its words speak of one."""


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return weight[indices]
