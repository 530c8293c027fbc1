#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams the held-out images through wsc-run and prints the digits it read, its accuracy and the wafer's cycles.

    classify.py DIGITS.wse

Needs numpy, and wsc-run on the PATH. The images are laid out as a data set (test_data_set_K/input_0.npy), one sample each. Exit status 1
if accuracy is below 95 %.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

LEAST_ACCURACY = 0.95


def run(executable, images):
    """The network's output for each image, and wsc-run's statistics."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for k, image in enumerate(images):
            folder = scratch / "data" / f"test_data_set_{k}"
            folder.mkdir(parents=True)
            np.save(folder / "input_0.npy", image[None])
        subprocess.run(["wsc-run", executable, "--data", scratch / "data", "--output", scratch / "results.npz",
                        "--stats", scratch / "stats.json", "--quiet"], check=True)
        results = np.load(scratch / "results.npz")
        probabilities = np.stack([results[f"probabilities.{k}"][0] for k in range(len(images))])
        return probabilities, json.loads((scratch / "stats.json").read_text())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(__file__).resolve().parent
    images = np.load(folder / "heldout_images.npy")
    labels = np.load(folder / "heldout_labels.npy")
    try:
        probabilities, stats = run(sys.argv[1], images)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    predicted = probabilities.argmax(axis=1)

    print("digit | read as (* wrong)")
    for digit in range(10):
        reads = predicted[labels == digit]
        print(f"    {digit} | " + " ".join(f"{read}{' ' if read == digit else '*'}" for read in reads).rstrip())
    correct = int((predicted == labels).sum())
    print(f"accuracy: {correct} of {len(labels)} held-out images ({correct / len(labels):.1%})")
    if stats["latency_cycles"] is None:
        print("cycles: unknown for this executable")
    else:
        print(f"latency: {stats['latency_cycles']} cycles, then one image every {stats['interval_cycles']} cycles")
    if correct < LEAST_ACCURACY * len(labels):
        sys.exit(f"error: accuracy is below {LEAST_ACCURACY:.0%}")


if __name__ == "__main__":
    main()
