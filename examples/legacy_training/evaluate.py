"""Scores a trained classifier and keeps an average of its weights."""

import numpy as np
import torch
from torch.autograd import Variable


def predict(model, images):
    """Give the class probabilities as an array."""
    images = Variable(torch.as_tensor(images), volatile=True)
    probabilities = torch.softmax(model(images), dim=1)
    return probabilities.numpy()


def embedding(model):
    """Give the last layer's weights, one row for each class."""
    weight = model.output.weight.data
    return weight.cpu().numpy()


def accuracy(model, images, labels):
    return float(np.mean(predict(model, images).argmax(1) == labels))


def confusion(predicted, labels, classes):
    counts = torch.LongTensor(classes, classes).zero_()
    for guess, truth in zip(predicted, labels):
        counts[truth, guess] += 1
    return counts.numpy()


class Average:
    """The running average of a model's parameters."""

    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = [parameter.data.clone() for parameter in model.parameters()]

    def update(self, model):
        for shadow, parameter in zip(self.shadow, model.parameters()):
            shadow.mul_(self.decay).add_(parameter.data, alpha=1 - self.decay)

    def copy_to(self, model):
        for shadow, parameter in zip(self.shadow, model.parameters()):
            parameter.data.copy_(shadow)
