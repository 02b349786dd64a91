"""Int8 .tflite models of Conv, Add, Concat and Softmax, said again as QDQ ONNX models of the same codes."""
import struct

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SAME, VALID = 0, 1
ACTIVATIONS = {0: None, 1: (0, None), 2: (-1, 1), 3: (0, 6)}
ADD, CONCAT, CONV, DEPTHWISE, SOFTMAX = 0, 2, 3, 4, 25
OPS = {ADD, CONCAT, CONV, DEPTHWISE, SOFTMAX}
DTYPES = {2: np.int32, 9: np.int8}


# ---- FlatBuffers: fields by their number in the schema

class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]

    def place(self, field):
        """Where a field lies; 0: it is not there."""
        size = struct.unpack_from("<H", self.data, self.fields)[0]
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * field)[0] if 4 + 2 * field < size else 0
        return self.at + offset if offset else 0

    def number(self, field, form="b", missing=0):
        place = self.place(field)
        return struct.unpack_from("<" + form, self.data, place)[0] if place else missing

    def follow(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, field):
        return Table(self.data, self.follow(self.place(field))) if self.place(field) else None

    def numbers(self, field, dtype):
        if not self.place(field):
            return np.zeros(0, dtype)
        at = self.follow(self.place(field))
        return np.frombuffer(self.data, dtype, struct.unpack_from("<I", self.data, at)[0], at + 4)

    def tables(self, field):
        at = self.follow(self.place(field))
        count = struct.unpack_from("<I", self.data, at)[0]
        return [Table(self.data, self.follow(at + 4 + 4 * i)) for i in range(count)]


class Tensor:
    def __init__(self, table, buffers):
        self.shape = [int(d) for d in table.numbers(0, "<i4")]
        quantization, data = table.table(4), buffers[table.number(2, "I")].numbers(0, np.uint8)
        self.scale, self.zero = quantization.numbers(2, "<f4"), quantization.numbers(3, "<i8")
        dtype = DTYPES.get(table.number(1))
        self.constant = data.view(dtype).reshape(self.shape) if data.size and dtype else None
        self.is_codes = dtype is np.int8


class File:
    def __init__(self, path):
        data = path.read_bytes()
        model = Table(data, struct.unpack_from("<I", data)[0])
        graph = model.tables(2)[0]
        kinds = [max(code.number(0), code.number(3, "i")) for code in model.tables(1)]
        self.operators = [(kinds[op.number(0, "I")], op) for op in graph.tables(3)]
        self.kinds = {kind for kind, _ in self.operators}
        if self.kinds <= OPS:
            self.tensors = [Tensor(tensor, model.tables(4)) for tensor in graph.tables(0)]
            self.inputs, self.outputs = graph.numbers(1, "<i4"), graph.numbers(2, "<i4")

    def is_known(self):
        return self.kinds <= OPS and all(tensor.constant is not None or tensor.is_codes for tensor in self.tensors)


# ---- saying it again

def same_pads(size, kernel, stride, dilation):
    total = [max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) for n, k, s, d in zip(size, kernel, stride, dilation)]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


class Saying:
    """The ONNX model; images are channels-first in it when there is a convolution."""

    def __init__(self, file):
        self.file = file
        self.is_turned = bool(file.kinds & {CONV, DEPTHWISE})
        self.nodes, self.constants, self.said = [], [], set()

    def turn(self, array):
        return array.transpose(0, 3, 1, 2) if self.is_turned and array.ndim == 4 else array

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def parameters(self, index, code):
        tensor = self.file.tensors[index]
        scale, zero = tensor.scale.astype(np.float32), tensor.zero.astype(code)
        if scale.size == 1:
            scale, zero = scale[0], zero[0]
        return [self.constant(f"t{index}_s", scale), self.constant(f"t{index}_z", zero)]

    def read(self, index, turn=None, code=np.int8):
        """The real value of a tensor of codes."""
        name, tensor = f"t{index}", self.file.tensors[index]
        if index not in self.said:
            self.said.add(index)
            if tensor.constant is not None:
                self.constant(name, (turn or self.turn)(tensor.constant))
            self.nodes.append(helper.make_node("DequantizeLinear", [name, *self.parameters(index, code)], [name + "_real"], axis=0))
        return name + "_real"

    def write(self, op, name, inputs, activation=0, **attributes):
        index = int(op.numbers(2, "<i4")[0])
        made, bounds = f"t{index}_made", ACTIVATIONS[activation]
        self.nodes.append(helper.make_node(name, inputs, [made], **attributes))
        if bounds:
            names = [self.constant(f"t{index}_bound{i}", np.float32(b)) for i, b in enumerate(bounds) if b is not None]
            op, names = ("Relu", []) if bounds[1] is None else ("Clip", names)
            self.nodes.append(helper.make_node(op, [made, *names], [made + "2"]))
            made += "2"
        self.nodes.append(helper.make_node("QuantizeLinear", [made, *self.parameters(index, np.int8)], [f"t{index}"]))
        self.nodes.append(helper.make_node("DequantizeLinear", [f"t{index}", f"t{index}_s", f"t{index}_z"], [f"t{index}_real"]))
        self.said.add(index)

    def say_conv(self, kind, op):
        inputs, options = op.numbers(1, "<i4"), op.table(4)
        first = 0 if kind == CONV else 1  # the depthwise op has its multiplier before the activation
        padding, strides, activation = options.number(0), [options.number(2, "i"), options.number(1, "i")], options.number(3 + first)
        dilations = [options.number(5 + first, "i", 1), options.number(4 + first, "i", 1)]
        x, w = (self.file.tensors[i] for i in inputs[:2])
        kernel, size = w.shape[1:3], x.shape[1:3]
        group = x.shape[3] if kind == DEPTHWISE else x.shape[3] // w.shape[3]
        axes = (3, 0, 1, 2) if kind == DEPTHWISE else (0, 3, 1, 2)
        operands = [self.read(inputs[0]), self.read(inputs[1], turn=lambda a: a.transpose(axes))]
        if len(inputs) > 2 and inputs[2] >= 0:
            operands.append(self.read(inputs[2], code=np.int32))
        pads = same_pads(size, kernel, strides, dilations) if padding == SAME else [0] * 4
        self.write(op, "Conv", operands, activation, group=group, strides=strides, dilations=dilations, pads=pads)

    def say_op(self, kind, op):
        if kind in (CONV, DEPTHWISE):
            self.say_conv(kind, op)
            return
        inputs, options = [int(i) for i in op.numbers(1, "<i4")], op.table(4)
        if kind == SOFTMAX:  # ONNX's has no beta, which is a power of two in all of them
            tensor = self.file.tensors[inputs[0]]
            tensor.scale = tensor.scale * np.float32(options.number(0, "f"))
        inputs = [self.read(i) for i in inputs]
        if kind == ADD:
            self.write(op, "Add", inputs, options.number(0) if options else 0)
        elif kind == CONCAT:
            self.write(op, "Concat", inputs, options.number(1), axis=options.number(0, "i"))
        else:
            self.write(op, "Softmax", inputs, axis=-1)

    def say(self):
        for kind, op in self.file.operators:
            self.say_op(kind, op)
        values = []
        for index in [*self.file.inputs, *self.file.outputs]:
            shape = self.turn(np.zeros(self.file.tensors[index].shape, np.int8)).shape
            values.append(helper.make_tensor_value_info(f"t{index}", TensorProto.INT8, shape))
        count = len(self.file.inputs)
        graph = helper.make_graph(self.nodes, "g", values[:count], values[count:], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
