"""Makes batches of toy digits: nothing here is at fault."""

import numpy as np
import torch
import torch.utils.data


class Digits(torch.utils.data.Dataset):
    def __init__(self, count=64, seed=0):
        generator = np.random.default_rng(seed)
        self.data = generator.random((count, 1, 28, 28), dtype=np.float32)
        self.labels = generator.integers(0, 10, count)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return torch.from_numpy(self.data[index]), int(self.labels[index])


def batches(digits, size=16):
    for start in range(0, len(digits), size):
        yield digits.data[start : start + size], digits.labels[start : start + size].tolist()


def mean_image(digits):
    return torch.from_numpy(digits.data).mean(0).numpy()
