"""Samples of about the size that normalized (or plain) pictures have: COUNT of the shape of the model's input, in one
array and as an array each. Usage: make_samples.py MODEL COUNT MEAN STD OUT.npy DIRECTORY"""

import pathlib
import sys

import numpy as np
import onnx

if __name__ == "__main__":
    model, count, mean, std, path, directory = sys.argv[1:]
    shape = [d.dim_value for d in onnx.load(model, load_external_data=False).graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(5)
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    samples = np.lib.format.open_memmap(path, "w+", np.float32, (int(count), *shape))
    for i in range(int(count)):
        samples[i] = random.normal(float(mean), float(std), shape)
        np.save(directory / f"{i:04}.npy", samples[i])
