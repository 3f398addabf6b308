"""A small image classifier, written for PyTorch 0.3."""

import torch
import torch.nn as nn
from torch.autograd import Variable


class Classifier(nn.Module):
    def __init__(self, classes, hidden=64):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.hidden = nn.Linear(8 * 4 * 4, hidden)
        self.output = nn.Linear(hidden, classes)
        self.reset_parameters()

    def reset_parameters(self):
        self.hidden.weight.data.normal_(0, 0.02)
        self.hidden.bias.data.zero_()  # as in the paper

    def forward(self, images):
        features = self.pool(torch.relu(self.conv(images)))
        return self.output(torch.relu(self.hidden(features.flatten(1))))


def class_weights(counts):
    """Weigh each class by how rare it is."""
    weights = torch.Tensor([1.0 / count for count in counts])
    return weights / weights.sum()


def noise_like(images):
    noise = Variable(torch.zeros(images.size(0), 1, 28, 28))
    if isinstance(images, Variable):
        noise.normal_()
    return noise
