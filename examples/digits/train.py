#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the demo network on scikit-learn's 8×8 digits and writes digits.onnx and the held-out images beside this script.

100 of the 1797 images (ten of each digit, drawn with a fixed seed) are set aside before training and never used in it: not for
gradients, not for choosing a model. Training runs a fixed number of epochs on one thread with fixed seeds.

Needs Debian's python3-torch, python3-sklearn and python3-onnx; takes a few seconds. Fails if held-out accuracy is below 95 %.
"""
import collections
import pathlib
import sys

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = 20240229
HELD_OUT_PER_DIGIT = 10
EPOCHS = 30
BATCH = 32


def split(labels, rng):
    """Indices of the training images and of the held-out ones, both in shuffled order."""
    order = rng.permutation(len(labels))
    held_out = np.concatenate([order[labels[order] == digit][:HELD_OUT_PER_DIGIT] for digit in range(10)])
    return np.setdiff1d(order, held_out), rng.permutation(held_out)


def network():
    return nn.Sequential(collections.OrderedDict(
        conv1=nn.Conv2d(1, 8, kernel_size=3, padding=1), relu1=nn.ReLU(),
        conv2=nn.Conv2d(8, 16, kernel_size=3, padding=1), relu2=nn.ReLU(),
        pool=nn.MaxPool2d(2),
        flatten=nn.Flatten(),
        scores=nn.Linear(16 * 4 * 4, 10),
    ))


def train(model, images, labels):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    loss = nn.CrossEntropyLoss()
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss(model(images[batch]), labels[batch]).backward()
            optimizer.step()


def main():
    folder = pathlib.Path(__file__).resolve().parent
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]  # [1797, 1, 8, 8] in 0…1
    labels = digits.target.astype(np.int64)
    training, held_out = split(labels, np.random.RandomState(SEED))

    model = network()
    train(model, torch.from_numpy(images[training]), torch.from_numpy(labels[training]))
    model.add_module("softmax", nn.Softmax(dim=1))
    model.eval()
    with torch.no_grad():
        predicted = model(torch.from_numpy(images[held_out])).argmax(1).numpy()
    accuracy = (predicted == labels[held_out]).mean()
    print(f"trained on {len(training)} images; {len(held_out)} held out, accuracy {accuracy:.1%}")
    if accuracy < 0.95:
        sys.exit("error: held-out accuracy is below 95 %; nothing written")

    path = folder / "digits.onnx"
    torch.onnx.export(model, torch.zeros(1, 1, 8, 8), str(path), opset_version=17,
                      input_names=["image"], output_names=["probabilities"])
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)
    np.save(folder / "heldout_images.npy", images[held_out])
    np.save(folder / "heldout_labels.npy", labels[held_out])


if __name__ == "__main__":
    main()
