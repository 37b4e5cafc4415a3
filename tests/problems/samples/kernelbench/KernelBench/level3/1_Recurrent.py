import torch
import torch.nn as nn


class Model(nn.Module):
    """A recurrent network that returns its outputs and its last state."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)

    def forward(self, x, h0):
        output, state = self.rnn(x, h0)
        return output, state


batch_size = 8
length = 12
input_size = 16
hidden_size = 24


def get_inputs():
    return [torch.randn(batch_size, length, input_size), torch.zeros(1, batch_size, hidden_size)]


def get_init_inputs():
    return [input_size, hidden_size]
