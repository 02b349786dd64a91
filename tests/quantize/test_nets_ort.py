"""Nets of random parts, quantized in many ways: the written file means the same to ONNX Runtime, with its integer kernels,
as to tare, and both stay near the float net."""
import random

import numpy as np
import pytest
from bench import model, node, ort

OPTIONS = [[], ["--per-tensor"], ["--act", "s8"], ["--symmetric"], ["--symmetric", "--act", "s8"], ["--power-of-two"],
           ["--method", "minmax"]]


class Net:
    """A chain that grows at its end `at`, of `shape`."""

    def __init__(self, seed):
        self.pick, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.constants, self.at = [], {}, "x"
        self.shape = [1, self.pick.choice([2, 3, 4, 8]), *[self.pick.choice([4, 5, 8])] * 2]
        self.x = self.uniform(*self.shape)

    def uniform(self, *shape, scale=1):
        return (self.numbers.uniform(-1, 1, shape) * scale).astype(np.float32)

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants[name] = array
        return name

    def put(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, **attributes))
        return name

    def bias(self, count):
        return self.constant(self.uniform(count, scale=self.pick.choice([0, .1, 5]))) if self.pick.random() < .6 else ""

    def conv(self):
        kernel, group = self.pick.choice([1, 2, 3]), self.pick.choice([1, self.shape[1]])
        made = group * self.pick.choice([1, 2])
        weight = self.constant(self.uniform(made, self.shape[1] // group, kernel, kernel, scale=self.pick.choice([.01, 1, 10])))
        pads = [self.pick.randint(0, 1) for _ in range(4)]
        return self.put("Conv", f"{self.at} {weight} {self.bias(made)}", group=group, pads=pads, strides=[self.pick.choice([1, 2])] * 2)

    def conv_transpose(self):
        made = self.pick.choice([1, 2, 3])
        weight = self.constant(self.uniform(self.shape[1], made, 2, 2))
        return self.put("ConvTranspose", f"{self.at} {weight} {self.bias(made)}", strides=[2, 2])

    def unary(self):
        return self.put(self.pick.choice(["Relu", "Sigmoid", "HardSwish", "Tanh", "LeakyRelu"]), self.at)

    def clip(self):
        low, high = self.constant(np.float32(self.pick.choice([-1, 0]))), self.constant(np.float32(self.pick.choice([1, 6])))
        return self.put("Clip", f"{self.at} {low} {high}")

    def with_constant(self):
        shape = self.pick.choice([(1, self.shape[1], 1, 1), (1,), (), tuple(self.shape)])
        return self.put(self.pick.choice(["Add", "Mul", "Sub"]), f"{self.at} {self.constant(self.uniform(*shape))}")

    def skip(self):
        return self.put(self.pick.choice(["Add", "Mul"]), f"{self.at} {self.put('Sigmoid', self.at)}")

    def concat(self):
        return self.put("Concat", f"{self.at} {self.put('Relu', self.at)}", axis=1)

    def pool(self):
        op = self.pick.choice(["MaxPool", "AveragePool"])
        return self.put(op, self.at, kernel_shape=[2, 2], pads=[self.pick.randint(0, 1)] * 4)

    def move(self):
        if self.pick.random() < .5:
            return self.put("Pad", f"{self.at} {self.constant(np.array([0, 0, 1, 0, 0, 0, 0, 1]))}")
        return self.put("Transpose", self.at, perm=[0, 1, 3, 2])

    def gemm(self):
        flat, made = self.put("Flatten", self.at), self.pick.choice([1, 3, 5])
        weight = self.constant(self.uniform(made, int(np.prod(self.shape))))
        bias = self.constant(self.uniform(*self.pick.choice([(made,), (1,), (), (1, made)])))
        return self.put("Gemm", f"{flat} {weight} {bias}", transB=1, alpha=self.pick.choice([1.0, .5]), beta=self.pick.choice([1.0, 2.0]))

    def grow(self):
        part = self.pick.choice([self.conv, self.conv, self.conv_transpose, self.unary, self.clip, self.with_constant, self.skip,
                                 self.concat, self.pool, self.move])
        self.at = part()
        self.shape = list(self.run().shape)

    def model(self):
        return model(self.nodes, {"x": list(self.x.shape)}, self.at, self.constants, opset=14)

    def run(self):
        return ort(self.model(), {"x": self.x})[self.at]


def make(seed):
    net = Net(seed)
    for _ in range(net.pick.randint(2, 6)):
        if min(net.shape[2:]) >= 3:
            net.grow()
    if net.pick.random() < .5:
        net.at = net.gemm()
    return net


@pytest.mark.parametrize("seed", range(60))
def test_net(bench, seed):
    net = make(seed)
    made = bench.quantize(net.model(), {"x": net.x}, *net.pick.choice(OPTIONS))
    want, ours, theirs = net.run(), bench.run(made, {"x": net.x})[net.at], made.run({"x": net.x})[net.at]
    largest = np.abs(want).max()
    assert np.abs(ours - theirs).max() <= .03 * largest, "a code or two of 256, where ties fall to different sides"
    assert np.linalg.norm(ours - want) <= .25 * np.linalg.norm(want)
