"""What every value of a model is, in f64 by onnx's reference evaluator and in f32 by ONNX Runtime: what float runs are held
against. Results are kept under build/replay, by the bytes of model and sample and the version of what made them."""
import hashlib
import inspect
import os
import pathlib
import subprocess
import sys
from importlib import metadata

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or ROOT.parent / "shared")
CACHE = ROOT / "build" / "replay"


class GlobalMaxPool(OpRun):
    """onnx's own drops the spatial dimensions of three-dimensional tensors."""

    def _run(self, x):
        return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


def quantize_bounds(bits, signed, narrow):
    if signed:
        return -(2 ** (bits - 1)) + (1 if narrow else 0), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1 - (1 if narrow else 0)


class Quant(OpRun):
    """QONNX's Quant (github.com/fastmachinelearning/qonnx, docs/qonnx-custom-ops/quant_op.md), ROUND only."""

    op_domain = "onnx.brevitas"

    def _run(self, x, scale, zero, bits, signed=None, narrow=None, rounding_mode=None):
        assert rounding_mode in (None, "ROUND")
        lo, hi = quantize_bounds(float(np.ravel(bits)[0]), signed, narrow)
        scale = np.asarray(scale).astype(np.float32)  # steps in f32: which code it is hangs on ties
        steps = np.rint(np.clip(x.astype(np.float32) / scale + np.asarray(zero).astype(np.float32), lo, hi))
        return ((steps.astype(np.float64) - zero) * scale,)


class BipolarQuant(OpRun):
    op_domain = "onnx.brevitas"

    def _run(self, x, scale):
        return (np.where(x >= 0, 1.0, -1.0) * scale,)


class BatchNormalization(OpRun):
    """onnx's own takes the momentum of old files as a wish to train."""

    def _run(self, x, scale, bias, mean, var, epsilon=1e-5, momentum=None, **_):
        shape = [-1 if i == 1 else 1 for i in range(x.ndim)]
        scale, bias, mean, var = (array.reshape(shape) for array in (scale, bias, mean, var))
        return ((x - mean) / np.sqrt(var + epsilon) * scale + bias,)


def along(array, axis, rank):
    return array.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) if array.size > 1 else array.reshape(())


class QuantizeLinear(OpRun):
    """In f32 as ONNX Runtime does it, since a code is what it is; onnx's own has no form for opset 13."""

    def _run(self, x, scale, zero=None, axis=1, **_):
        zero = np.zeros(1, np.uint8) if zero is None else zero
        info = np.iinfo(zero.dtype)
        steps = np.rint(x.astype(np.float32) / along(scale.astype(np.float32), axis, x.ndim))
        return (np.clip(steps + along(zero.astype(np.float32), axis, x.ndim), info.min, info.max).astype(zero.dtype),)


class DequantizeLinear(OpRun):
    def _run(self, codes, scale, zero=None, axis=1, **_):
        zero = np.zeros(1, codes.dtype) if zero is None else zero
        steps = codes.astype(np.int64) - along(zero.astype(np.int64), axis, codes.ndim)
        return ((steps.astype(np.float32) * along(scale.astype(np.float32), axis, codes.ndim)).astype(np.float64),)


class MicrosoftQuantizeLinear(QuantizeLinear):
    op_domain = "com.microsoft"


class MicrosoftDequantizeLinear(DequantizeLinear):
    op_domain = "com.microsoft"


MicrosoftQuantizeLinear.__name__ = "QuantizeLinear"
MicrosoftDequantizeLinear.__name__ = "DequantizeLinear"
OWN_OPS = [GlobalMaxPool, BatchNormalization, Quant, BipolarQuant, QuantizeLinear, DequantizeLinear,
           MicrosoftQuantizeLinear, MicrosoftDequantizeLinear]


# ---- the model in f64, as the float backend sees it

def widen_tensor(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def widen(graph):
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                widen_tensor(attribute.t)
            if attribute.type == onnx.AttributeProto.GRAPH:
                widen(attribute.g)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE


def dequantizer_behind(node, readers, outputs):
    """The DQ that alone reads what a Q makes, shapes apart; None when there is no such DQ."""
    while True:
        after = readers.get(node.output[0], [])
        if len(after) != 1 or node.output[0] in outputs:
            return None
        node = after[0]
        if node.op_type not in ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze"):
            return node if node.op_type == "DequantizeLinear" else None


def drop_quantization(model):
    """A Q whose codes go to a DQ alone, and that DQ, become Identity, as the float backend ignores what values carry; a DQ
    of a constant stays what it is."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    readers = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {value.name for value in model.graph.output}
    for node in [node for node in model.graph.node if node.op_type == "QuantizeLinear"]:
        behind = dequantizer_behind(node, readers, outputs)
        for each in (node, behind) if behind else ():
            kept_input = each.input[0]
            del each.input[:], each.attribute[:]
            each.input.append(kept_input)
            each.op_type, each.domain = "Identity", ""
    del model.graph.value_info[:]
    return model


# ---- QOperator files: each operator on codes becomes the operator on real numbers

# operator -> (float operator, which inputs are (codes, scale, zero) triples, index of an int32 bias or None)
ON_CODES = {
    "QLinearConv": ("Conv", (0, 3), 8),
    "QLinearAdd": ("Add", (0, 3), None),
    "QLinearAveragePool": ("AveragePool", (0,), None),
    "QLinearSoftmax": ("Softmax", (0,), None),
    "QGemm": ("Gemm", (0, 3), 6),
}


def real_constant(codes, scale, zero, axis):
    shape = [-1 if i == axis else 1 for i in range(codes.ndim)] if scale.size > 1 else []
    return ((codes.astype(np.int64) - zero.astype(np.int64).reshape(shape)) * scale.astype(np.float64).reshape(shape)
            ).astype(np.float32)


def expand_operators_on_codes(model):
    """What the float backend computes of a QOperator file; the real value of 'x' is called 'x_1', as tare calls it."""
    if not any(node.op_type in ON_CODES for node in model.graph.node):
        return model
    model = onnx.ModelProto.FromString(model.SerializeToString())
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    real, nodes = {}, []

    def read(node, at, axis):
        name, scale, zero = node.input[at:at + 3]
        if name not in constants:
            return real[name]
        if name + "_real" not in constants:
            constants[name + "_real"] = real_constant(constants[name], constants[scale], constants[zero], axis)
            model.graph.initializer.append(numpy_helper.from_array(constants[name + "_real"], name + "_real"))
        return name + "_real"

    for node in model.graph.node:
        if node.op_type == "QuantizeLinear":
            real[node.output[0]] = node.input[0]
        elif node.op_type == "DequantizeLinear":
            nodes.append(onnx.helper.make_node("Identity", [real[node.input[0]]], [node.output[0]]))
        elif node.op_type in ON_CODES:
            op, triples, bias = ON_CODES[node.op_type]
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute
                          if a.name not in ("channels_last", "opset")}
            axis = 1 if op == "Gemm" and not attributes.get("transB") else 0
            inputs = [read(node, at, axis) for at in triples]
            if bias is not None and len(node.input) > bias and node.input[bias]:
                scale = constants[node.input[1]].astype(np.float64) * constants[node.input[4]].astype(np.float64)
                array = (constants[node.input[bias]] * scale).astype(np.float32)
                model.graph.initializer.append(numpy_helper.from_array(array, node.input[bias] + "_real"))
                inputs.append(node.input[bias] + "_real")
            real[node.output[0]] = node.output[0] + "_1"
            nodes.append(onnx.helper.make_node(op, inputs, [node.output[0] + "_1"], **attributes))
        else:
            if node.input[0] in real:
                real[node.output[0]] = node.output[0] + "_1"
                node.input[0] = real[node.input[0]]
                node.output[0] += "_1"
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    del model.graph.value_info[:]
    return model


def with_domains(model):
    """Exporters leave out the opset of the domain of Quant."""
    known = {entry.domain for entry in model.opset_import}
    for domain in {node.domain for node in model.graph.node} - known - {""}:
        model.opset_import.append(onnx.helper.make_opsetid(domain, 1))
    return model


def reference_values(model, feeds):
    wide = with_domains(onnx.ModelProto.FromString(model.SerializeToString()))
    widen(wide.graph)
    evaluator = ReferenceEvaluator(wide, new_ops=OWN_OPS)
    inputs = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in feeds.items()}
    values = evaluator.run(None, inputs, intermediate=True)
    return {name: np.asarray(array) for name, array in values.items() if isinstance(array, (np.ndarray, np.generic))}


# ---- ONNX Runtime, every value

def runtime_values(model, feeds, threads=1):
    """Every value in f32, optimizations off; None when ONNX Runtime refuses the model."""
    import onnxruntime as ort

    model = onnx.ModelProto.FromString(model.SerializeToString())
    outputs = {value.name for value in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in outputs:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # the runtime's exceptions have no common base
        return None
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


# ---- kept results

def kept(key, make):
    """What make() returns, a dict of arrays or None, kept in a file named by the key."""
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.npz"
    if path.exists():
        with np.load(path) as file:
            values = {name: file[name] for name in file.files}
    else:
        values = make()
        values = {"<none>": np.zeros(0)} if values is None else values
        temporary = path.with_suffix(".tmp.npz")
        np.savez(temporary, **values)
        temporary.rename(path)
    return None if "<none>" in values else values


def digest(feeds):
    hash_ = hashlib.sha256()
    for name in sorted(feeds):
        hash_.update(name.encode())
        hash_.update(feeds[name].tobytes())
    return hash_.hexdigest()


def kept_runtime_values(model, feeds):
    """runtime_values() of the model as it is now, by its bytes, the feeds and the version of ONNX Runtime."""
    data = hashlib.sha256(model.SerializeToString()).hexdigest()
    key = ("f32", data, digest(feeds), metadata.version("onnxruntime"), inspect.getsource(runtime_values))
    return kept(key, lambda: runtime_values(model, feeds))


def fit_feeds(model, feeds):
    """The sample under the names and types of another form of the model: inputs that want codes get them by the scale of
    the DequantizeLinear behind."""
    given = list(feeds.items())
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    wanted = [value for value in model.graph.input if value.name not in constants]
    fitted = {}
    for i, value in enumerate(wanted):
        array = feeds[value.name] if value.name in feeds else given[i][1]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if array.dtype != dtype and dtype in (np.int8, np.uint8):
            after = next(node for node in model.graph.node if value.name in node.input)
            while after.op_type != "DequantizeLinear":
                after = next(node for node in model.graph.node if after.output[0] in node.input)
            scale, zero = constants[after.input[1]], constants[after.input[2]]
            info = np.iinfo(dtype)
            array = np.clip(np.rint(array / scale) + float(zero), info.min, info.max).astype(dtype)
        fitted[value.name] = array
    return fitted


def both(path, feeds):
    """(f64 values, f32 values or None) of the float form of a model; feeds as fit_feeds gives them."""
    data = pathlib.Path(path).read_bytes()
    key = (hashlib.sha256(data).hexdigest(), digest(feeds), onnx.__version__, pathlib.Path(__file__).read_bytes())
    model = drop_quantization(expand_operators_on_codes(onnx.load(str(path))))
    return kept((key, "f64"), lambda: reference_values(model, feeds)), kept_runtime_values(model, feeds)


def feeds_of(name, use="eval", index=0):
    """The index-th preprocessed sample of one of the shared models, as score.py makes it."""
    directory = CACHE / "feeds" / name.replace("@", "_") / use
    if not (directory / "list.txt").exists():
        directory.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, SHARED / "models" / "score.py", "feeds", name, "--use", use, "-o", directory],
                       check=True, stdout=subprocess.DEVNULL)
    path = sorted(directory.glob("*.npz"))[index]
    with np.load(path) as file:
        return {key: file[key] for key in file.files}
