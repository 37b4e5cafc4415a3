import torch
import torch.nn as nn


class Model(nn.Module):
    """A layer with weights, statistics that training updates, and dropout that makes the output random."""

    def __init__(self, in_features, out_features, dropout_p):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.BatchNorm1d(out_features)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x):
        return torch.relu(self.dropout(self.norm(self.linear(x))))


batch_size = 128
in_features = 512
out_features = in_features * 2
dropout_p = 0.2


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, dropout_p]
