"""Networks of the shapes that speed is measured on, with seeded random weights, batch normalization folded:
mobilenet_v2.onnx and resnet18.onnx, 1x3x224x224, opset 17. Usage: make_models.py DIRECTORY"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Network:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def add(self, op, *inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array, name):
        self.weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def conv(self, x, channels, outputs, kernel=1, stride=1, group=1, gain=1.0):
        at = len(self.nodes)
        fan = channels // group * kernel * kernel
        weight = self.random.normal(0, gain * np.sqrt(2 / fan), (outputs, channels // group, kernel, kernel))
        bias = self.random.normal(0, 0.1, outputs)
        return self.add("Conv", x, self.constant(weight, f"w{at}"), self.constant(bias, f"b{at}"),
                        kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=group)

    def relu6(self, x):
        if not any(weight.name == "zero" for weight in self.weights):
            self.constant(0.0, "zero")
            self.constant(6.0, "six")
        return self.add("Clip", x, "zero", "six")

    def classify(self, x, channels):
        x = self.add("Flatten", self.add("GlobalAveragePool", x), axis=1)
        weight = self.random.normal(0, np.sqrt(1 / channels), (1000, channels))
        return self.add("Gemm", x, self.constant(weight, "w_last"), self.constant(np.zeros(1000), "b_last"), transB=1)

    def save(self, path, output):
        given = helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [1, 3, 224, 224])
        made = helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, [1, 1000])
        graph = helper.make_graph(self.nodes, path.stem, [given], [made], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def mobilenet_v2(path):
    net = Network(1)
    x, channels = net.relu6(net.conv("input", 3, 32, 3, 2)), 32
    for expand, outputs, repeats, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                   (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeats):
            stride, hidden, y = first_stride if i == 0 else 1, channels * expand, x
            if expand > 1:
                y = net.relu6(net.conv(y, channels, hidden))
            y = net.relu6(net.conv(y, hidden, hidden, 3, stride, hidden))
            y = net.conv(y, hidden, outputs, gain=0.5)
            x = net.add("Add", x, y) if stride == 1 and channels == outputs else y
            channels = outputs
    x = net.relu6(net.conv(x, channels, 1280))
    net.save(path, net.classify(x, 1280))


def resnet18(path):
    net = Network(2)
    x = net.add("Relu", net.conv("input", 3, 64, 7, 2))
    x, channels = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for outputs, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first_stride, 1):
            y = net.add("Relu", net.conv(x, channels, outputs, 3, stride))
            y = net.conv(y, outputs, outputs, 3, gain=0.5)
            x = x if stride == 1 and channels == outputs else net.conv(x, channels, outputs, 1, stride)
            x, channels = net.add("Relu", net.add("Add", y, x)), outputs
    net.save(path, net.classify(x, 512))


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    mobilenet_v2(directory / "mobilenet_v2.onnx")
    resnet18(directory / "resnet18.onnx")
