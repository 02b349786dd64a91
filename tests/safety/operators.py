"""Models of one operator that break its rules, families 91-110: what each holds and what its error must name."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OK, MALFORMED, UNSUPPORTED, LIMIT = 0, 3, 4, 6
FLOAT, INT64, UINT8, INT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8
CASES = []
NAN, INF, HUGE = float("nan"), float("inf"), 1 << 62


def floats(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def ints(*numbers):
    return np.array(numbers, np.int64)


def scalar(number, dtype=np.int64):
    return np.array(number, dtype)


class Case:
    """`inputs`: a shape is a graph input, an array an initializer, None is left out."""

    def __init__(self, family, name, op, inputs, status, words, opset, outputs, types, attributes):
        self.id = f"{family}_{op}_{name}"
        self.op, self.inputs, self.status, self.words, self.opset = op, inputs, status, words, opset
        self.outputs, self.types, self.attributes = outputs, types or {}, attributes

    def model(self):
        names, feeds, constants = [], [], []
        for i, given in enumerate(self.inputs):
            names.append("" if given is None else f"in{i}")
            if isinstance(given, np.ndarray):
                constants.append(numpy_helper.from_array(given, names[-1]))
            elif given is not None:
                feeds.append(helper.make_tensor_value_info(names[-1], self.types.get(i, FLOAT), given))
        node = helper.make_node(self.op, names, [f"out{i}" for i in range(self.outputs)], name="n")
        node.attribute.extend(helper.make_attribute(k, v) for k, v in self.attributes.items())
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        graph = helper.make_graph([node], "g", feeds, outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)


def case(family, name, op, inputs, status, *words, opset=19, outputs=1, types=None, **attributes):
    CASES.append(Case(family, name, op, inputs, status, words, opset, outputs, types, attributes))


X, W = [1, 4, 6, 6], floats(2, 4, 3, 3)
for name, attributes, words in [
        ("stride_0", {"strides": [1, 0]}, ["'strides'"]), ("stride_negative", {"strides": [-1, 1]}, ["'strides'"]),
        ("dilation_0", {"dilations": [0, 1]}, ["'dilations'"]), ("group_0", {"group": 0}, ["'group'"]),
        ("group_negative", {"group": -1}, ["'group'"]), ("group_not_dividing", {"group": 3}, ["group 3"]),
        ("kernel_shape", {"kernel_shape": [5, 5]}, ["kernel_shape"]), ("kernel_0", {"kernel_shape": [0, 3]}, ["kernel_shape"]),
        ("pads_odd", {"pads": [1, 1, 1]}, ["'pads'"]), ("pads_short", {"pads": [1, 1]}, ["'pads'"]),
        ("strides_short", {"strides": [1]}, ["'strides'"]), ("dilations_short", {"dilations": [1]}, ["'dilations'"]),
        ("pads_negative", {"pads": [-1, 0, 0, 0]}, ["'pads'"]),
        ("auto_pad_and_pads", {"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}, ["auto_pad"]),
        ("auto_pad_unknown", {"auto_pad": "SAME"}, ["'auto_pad'", "'SAME'"]),
        ("dilated_past_input", {"dilations": [4, 4]}, ["9", "6"])]:
    case(91, name, "Conv", [X, W], MALFORMED, *words, **attributes)
for name, op, weight in (("strides", "Conv", [W]), ("dilations", "Conv", [W]), ("strides", "MaxPool", []), ("pads", "AveragePool", []),
                         ("strides", "ConvTranspose", [floats(4, 2, 3, 3)])):
    numbers = [1 << 40] * (4 if name == "pads" else 2)
    case(91, f"{name}_2e40", op, [X, *weight], LIMIT, f"'{name}'", str(1 << 40), "limit of 2147483647", kernel_shape=[3, 3],
         **{name: numbers})
case(91, "pads_huge", "Conv", [X, W], LIMIT, "1x2x2000000004x2000000004", "2^40", pads=[10**9] * 4)
case(91, "kernel_past_input", "Conv", [[1, 4, 2, 2], W], MALFORMED, "3", "2")
case(91, "weight_rank", "Conv", [X, floats(2, 4, 3)], MALFORMED, "rank 3, want 4")
case(91, "bias_length", "Conv", [X, W, floats(3)], MALFORMED, "3", "2")
for name, attributes, words in [
        ("stride_0", {"strides": [0, 1]}, ["'strides'"]), ("kernel_0", {"kernel_shape": [0, 2]}, ["'kernel_shape'"]),
        ("kernel_short", {"kernel_shape": [2]}, ["kernel_shape"]), ("kernel_past_input", {"kernel_shape": [7, 7]}, ["7", "6"]),
        ("pads_negative", {"pads": [-1, 0, 0, 0]}, ["'pads'"]), ("pads_short", {"pads": [1]}, ["'pads'"]),
        ("kernel_missing", {"kernel_shape": None}, ["'kernel_shape'", "missing"])]:
    for op in ("MaxPool", "AveragePool"):
        case(91, name, op, [X], MALFORMED, *words,
             **{k: v for k, v in {"kernel_shape": [2, 2], **attributes}.items() if v is not None})
case(91, "pads_past_kernel", "MaxPool", [X], MALFORMED, "pads", kernel_shape=[2, 2], pads=[2, 2, 2, 2])
case(92, "output_padding", "ConvTranspose", [X, floats(4, 2, 3, 3)], MALFORMED, "output_padding", output_padding=[1, 1])
case(92, "output_shape_negative", "ConvTranspose", [X, floats(4, 2, 3, 3)], MALFORMED, "output_shape", output_shape=[-1, 5])
case(92, "group_not_dividing", "ConvTranspose", [X, floats(4, 2, 3, 3)], MALFORMED, "group 3", group=3)

D = [3, 4]
for name, index in [("past", 3), ("before", -4), ("int64_min", -(1 << 63))]:
    case(93, name, "Gather", [D, ints(index)], MALFORMED, str(index), "3")
case(93, "zero_dim", "Gather", [[0, 4], ints(0)], MALFORMED, "0")
case(93, "axis", "Gather", [D, ints(0)], MALFORMED, "axis 2", axis=2)
case(93, "past", "GatherND", [D, ints(3, 0).reshape(1, 2)], MALFORMED, "3")
case(93, "depth", "GatherND", [D, ints(0, 0, 0).reshape(1, 3)], MALFORMED, "3")
case(93, "past", "GatherElements", [D, ints(7).reshape(1, 1)], MALFORMED, "7")
case(93, "past", "ScatterND", [D, ints(3).reshape(1, 1), floats(1, 4)], MALFORMED, "3")
case(93, "updates", "ScatterND", [D, ints(0).reshape(1, 1), floats(1, 3)], MALFORMED, "3")
case(93, "past", "ScatterElements", [D, ints(-4).reshape(1, 1), floats(1, 1)], MALFORMED, "-4")
case(94, "step_0", "Slice", [D, ints(0), ints(1), ints(0), ints(0)], MALFORMED, "step")
case(94, "step_int64_min", "Slice", [D, ints(2), ints(0), ints(0), ints(-(1 << 63))], OK)
case(94, "ends_int64_max", "Slice", [D, ints(0), ints((1 << 63) - 1), ints(0)], OK)
case(94, "axes_repeated", "Slice", [D, ints(0, 0), ints(1, 1), ints(0, 0)], MALFORMED, "0")
case(94, "axis_past", "Slice", [D, ints(0), ints(1), ints(2)], MALFORMED, "2")
case(94, "lengths", "Slice", [D, ints(0, 0), ints(1)], MALFORMED, "2", "1")
case(95, "negative", "Split", [D, ints(-1, 4)], MALFORMED, "-1", outputs=2)
case(95, "sum", "Split", [D, ints(1, 1)], MALFORMED, "2", "3", outputs=2)
case(95, "num_outputs_0", "Split", [D], MALFORMED, "3", "2", outputs=2, num_outputs=0)
case(95, "num_outputs", "Split", [D], MALFORMED, "'num_outputs'", "3", "2", outputs=2, num_outputs=3)
case(95, "outputs", "Split", [D, ints(1, 1, 1)], MALFORMED, "'in1'", "2", outputs=2)
case(95, "sizes_and_num_outputs", "Split", [D, ints(1, 2)], MALFORMED, "'in1'", "'num_outputs'", "want one", outputs=2,
     num_outputs=2)
case(96, "two_unknown", "Reshape", [D, ints(-1, -1)], MALFORMED, "-1")
case(96, "zero_and_unknown", "Reshape", [D, ints(0, -1)], MALFORMED, "allowzero", allowzero=1)
case(96, "count", "Reshape", [D, ints(5, 2)], MALFORMED, "12 elements", "10")
case(96, "wraps", "Reshape", [D, ints(1 << 32, 1 << 32)], LIMIT, "2^40")
case(96, "negative", "Reshape", [D, ints(-2, 6)], MALFORMED, "-2")
case(96, "zero_past_rank", "Reshape", [D, ints(12, 1, 0)], MALFORMED, "0")
case(96, "does_not_divide", "Reshape", [D, ints(5, -1)], MALFORMED, "12", "5")
case(97, "repeated", "Transpose", [D], MALFORMED, "perm", perm=[0, 0])
case(97, "short", "Transpose", [D], MALFORMED, "perm", perm=[0])
case(97, "past", "Transpose", [D], MALFORMED, "perm", perm=[0, 2])
case(98, "axis", "Concat", [D, D], MALFORMED, "axis", axis=2)
case(98, "ranks", "Concat", [D, [3]], MALFORMED, "rank", axis=0)
case(98, "dims", "Concat", [D, [3, 5]], MALFORMED, "4", "5", axis=0)
case(98, "none", "Concat", [], MALFORMED, "0 inputs", axis=0)
N, NONE = [1, 1, 4, 4], np.array([], np.float32)
for name, scale, status in [("0", 0, MALFORMED), ("negative", -1, MALFORMED), ("nan", NAN, MALFORMED), ("inf", INF, MALFORMED),
                            ("1e10", 1e10, LIMIT)]:
    case(99, f"scale_{name}", "Resize", [N, None, np.array([1, 1, scale, scale], np.float32)], status, "scale")
case(99, "scales_and_sizes", "Resize", [N, None, np.array([1, 1, 2, 2], np.float32), ints(1, 1, 8, 8)], MALFORMED, "scales", "sizes")
case(99, "neither", "Resize", [N], MALFORMED, "scales", "sizes")
case(99, "mode", "Resize", [N, None, np.array([1, 1, 2, 2], np.float32)], MALFORMED, "'mode'", "'bilinear'", mode="bilinear")
case(99, "lengths", "Resize", [N, None, np.array([1, 2, 2], np.float32)], MALFORMED, "3", "4")
case(99, "sizes_negative", "Resize", [N, None, None, ints(1, 1, -8, 8)], MALFORMED, "-8")
case(100, "past_2_40", "Expand", [[1, 1], ints(1 << 30, 1 << 30)], LIMIT, "2^40")
case(100, "negative", "Expand", [[1, 1], ints(-2, 2)], MALFORMED, "-2")
case(100, "clash", "Expand", [[3, 1], ints(2, 2)], MALFORMED, "3", "2")
case(100, "huge", "Tile", [[1, 1], ints(1 << 30, 1 << 30)], LIMIT, "2^40")
case(100, "negative", "Tile", [[1, 1], ints(-1, 1)], MALFORMED, "-1")
case(100, "huge", "ConstantOfShape", [ints(1 << 30, 1 << 30)], LIMIT, "2^40")
case(100, "negative", "ConstantOfShape", [ints(-1, 2)], MALFORMED, "-1")
case(100, "huge", "Range", [scalar(0), scalar(HUGE), scalar(1)], LIMIT, str(HUGE))
case(100, "delta_0", "Range", [scalar(0), scalar(5), scalar(0)], MALFORMED, "from 0 to 5 by 0")
case(100, "delta_nan", "Range", [scalar(0, np.float32), scalar(5, np.float32), scalar(NAN, np.float32)], MALFORMED, "nan")
case(101, "negative_past_size", "Pad", [D, ints(-4, 0, 0, 0)], MALFORMED, "-4")
case(101, "reflect_past_size", "Pad", [D, ints(3, 0, 0, 0)], MALFORMED, "3", mode="reflect")
case(101, "length", "Pad", [D, ints(1, 1)], MALFORMED, "2", "4")
case(101, "huge", "Pad", [D, ints(HUGE, 0, 0, 0)], LIMIT, str(HUGE))
case(102, "not_1", "Squeeze", [D, ints(0)], MALFORMED, "3")
case(102, "axis_past", "Squeeze", [D, ints(5)], MALFORMED, "5")
case(102, "twice", "Unsqueeze", [D, ints(1, 1)], MALFORMED, "1")
case(102, "past", "Unsqueeze", [D, ints(5)], MALFORMED, "5")
case(102, "rank_9", "Unsqueeze", [[1] * 8, ints(0)], UNSUPPORTED, "rank 9")
for op in ("ReduceMean", "ReduceMax", "ReduceSum"):
    case(103, "axis", op, [D, ints(2)], MALFORMED, "2", opset=18)
case(103, "axis_twice", "ReduceSum", [D, ints(0, 0)], MALFORMED, "0", opset=18)
case(103, "axis", "ArgMax", [D], MALFORMED, "axis", axis=2)
case(103, "axis", "Softmax", [D], MALFORMED, "axis", axis=-3)
case(103, "nothing_to_reduce", "ReduceMean", [[0, 4], ints(0)], OK, opset=18)
case(104, "k_past", "TopK", [D, ints(5)], MALFORMED, "5", "4", outputs=2)
case(104, "k_negative", "TopK", [D, ints(-1)], MALFORMED, "-1", outputs=2)
case(104, "depth_negative", "OneHot", [ints(0, 1), scalar(-1), floats(2)], MALFORMED, "-1")
case(104, "depth_huge", "OneHot", [ints(0, 1), scalar(HUGE), floats(2)], MALFORMED, "depth", "2147483647")
C = [floats(4), floats(4), floats(4), floats(4)]
case(105, "size", "BatchNormalization", [X, floats(3), *C[1:]], MALFORMED, "3", "4")
case(105, "variance_negative", "BatchNormalization", [X, *C[:3], -floats(4)], MALFORMED, "variance", "-1")
case(105, "epsilon_negative", "BatchNormalization", [X, *C], MALFORMED, "'epsilon'", epsilon=-1.0)
F1, Z1 = np.array([0.1], np.float32), np.array([0], np.uint8)
for name, scale in [("0", 0), ("nan", NAN), ("inf", INF), ("negative", -1)]:
    for op, types in (("QuantizeLinear", {}), ("DequantizeLinear", {0: UINT8})):
        case(106, f"scale_{name}", op, [D, np.array(scale, np.float32), np.array(0, np.uint8)], MALFORMED, "scale",
             types=types)
case(106, "length", "QuantizeLinear", [D, floats(3), np.zeros(3, np.uint8)], MALFORMED, "3", "4")
case(106, "zero_point_length", "QuantizeLinear", [D, floats(4), np.zeros(3, np.uint8)], MALFORMED, "3", "4")
case(106, "zero_point_type", "DequantizeLinear", [D, scalar(.1, np.float32), scalar(0, np.int8)], MALFORMED, "s8", "u8",
     types={0: UINT8})
case(106, "axis", "QuantizeLinear", [D, floats(4), np.zeros(4, np.uint8)], MALFORMED, "axis 2", axis=2)
case(106, "zero_point_of_s32", "DequantizeLinear", [D, scalar(.1, np.float32), scalar(1, np.int32)], MALFORMED, "zero point",
     types={0: TensorProto.INT32})
case(106, "block_0", "QuantizeLinear", [D, floats(3, 1), np.zeros((3, 1), np.uint8)], MALFORMED, "rank 2", "block_size", opset=21, block_size=0)
case(106, "block_count", "QuantizeLinear", [D, floats(3, 1), np.zeros((3, 1), np.uint8)], MALFORMED, "1, want 2", opset=21, block_size=2)
case(106, "block_of_one_scale", "QuantizeLinear", [D, scalar(1, np.float32), scalar(0, np.uint8)], MALFORMED, "rank 0",
     "want the input's 2", opset=21, block_size=2)
for op, types in (("QuantizeLinear", {}), ("DequantizeLinear", {0: UINT8})):
    case(106, "scale_of_1x1", op, [D, floats(1, 1), np.zeros((1, 1), np.uint8)], MALFORMED, "the scale has rank 2", types=types)
    case(106, "zero_point_of_1x1", op, [D, floats(1), np.zeros((1, 1), np.uint8)], MALFORMED, "the zero point has rank 2",
         types=types)
case(106, "scale_type", "QuantizeLinear", [D, scalar(1), scalar(0, np.uint8)], MALFORMED, "s64")
case(107, "crossed", "Clip", [D, scalar(5, np.float32), scalar(2, np.float32)], OK)
case(107, "nan", "Clip", [D, scalar(NAN, np.float32)], OK)
case(107, "shape", "Clip", [D, floats(2)], MALFORMED, "2")
for op, inputs, attributes in [("LSTM", [[2, 1, 3], floats(1, 16, 3), floats(1, 16, 4)], {"hidden_size": 4}),
                               ("GRU", [[2, 1, 3], floats(1, 12, 3), floats(1, 12, 4)], {"hidden_size": 4}),
                               ("RNN", [[2, 1, 3], floats(1, 4, 3), floats(1, 4, 4)], {"hidden_size": 4})]:
    case(109, "sound", op, inputs, OK, **attributes)
    case(109, "x_rank", op, [[2, 3], *inputs[1:]], MALFORMED, "rank", **attributes)
    case(109, "w_rank", op, [inputs[0], inputs[1][0], inputs[2]], MALFORMED, "rank", **attributes)
    case(109, "w_size", op, [inputs[0], inputs[1][:, 1:], inputs[2]], MALFORMED, str(inputs[1].shape[1] - 1), **attributes)
    case(109, "r_size", op, [*inputs[:2], inputs[2][:, :, 1:]], MALFORMED, "3", **attributes)
    case(109, "hidden_size", op, inputs, MALFORMED, "'hidden_size'", "5", "4", hidden_size=5)
    for number in (0, -4, 1 << 40):
        case(109, f"hidden_size_{number}", op, inputs, MALFORMED, "'hidden_size'", str(number), "want 1", hidden_size=number)
    for number in (0.0, -1.0):
        case(109, f"clip_{number}", op, inputs, MALFORMED, "'clip'", f"{number:g}", "more than 0", clip=number, **attributes)
    case(109, "hidden_0", op, [inputs[0], floats(1, 0, 3), floats(1, 0, 0)], MALFORMED, "R has rows of 0")
    case(109, "activation", op, inputs, UNSUPPORTED, "'Foo'", activations=["Foo"] * {"LSTM": 3, "GRU": 2, "RNN": 1}[op], **attributes)
    case(109, "bias", op, [*inputs, floats(1, 3)], MALFORMED, "3", **attributes)
case(109, "condition_rank", "Where", [[3], D, D], MALFORMED, "f32", "bool")
case(110, "epsilon_nan", "BatchNormalization", [X, *C], MALFORMED, "'epsilon'", epsilon=NAN)
case(110, "alpha_inf", "LeakyRelu", [D], MALFORMED, "'alpha'", alpha=INF)
case(110, "alpha_nan", "Elu", [D], MALFORMED, "'alpha'", alpha=NAN)
case(110, "alpha_nan", "Gemm", [D, floats(4, 2)], MALFORMED, "'alpha'", alpha=NAN)
case(110, "inner", "Gemm", [D, floats(3, 2)], MALFORMED, "4", "3")
case(110, "inner", "MatMul", [D, floats(3, 2)], MALFORMED, "4", "3")
case(110, "broadcast", "Add", [D, floats(3)], MALFORMED, "3x4", "3")
case(110, "types", "Add", [D, ints(1)], MALFORMED, "f32", "s64")
