"""Trains the classifier and reports the loss."""

import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd import Variable

from model import Classifier, class_weights

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(batches, classes=10, epochs=2):
    model = Classifier(classes).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weights = class_weights(np.bincount([label for _, labels in batches for label in labels], minlength=classes) + 1)
    history = []
    for epoch in range(epochs):
        for images, labels in batches:
            images = Variable(torch.FloatTensor(images)).to(device)
            labels = Variable(torch.LongTensor(labels)).to(device)
            loss = F.cross_entropy(model(images), labels, weight=weights.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss.data[0])
        print("epoch %d: loss %.3f" % (epoch, history[-1]))
    return model, history
