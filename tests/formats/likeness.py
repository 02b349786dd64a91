"""Are two ONNX models the same but for what need not be kept: the order of attributes, how tensors are stored, value_info of
values that are not there or that say nothing?"""
import onnx
from onnx import numpy_helper


def tensor(proto):
    data = [s for s in proto.string_data] if proto.data_type == onnx.TensorProto.STRING else \
        numpy_helper.to_array(proto).tobytes()
    return proto.data_type, tuple(proto.dims), data


def attribute(proto):
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, onnx.TensorProto):
        return tensor(value)
    if isinstance(value, onnx.GraphProto):
        return graph(value)
    if isinstance(value, onnx.TypeProto | onnx.SparseTensorProto):
        return value.SerializeToString(deterministic=True)
    return value if isinstance(value, bytes | str | int | float) else tuple(value)


def node(proto):
    inputs = list(proto.input)
    while inputs and not inputs[-1]:
        inputs.pop()
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    metadata = [(p.key, p.value) for p in proto.metadata_props]
    return (proto.op_type, domain, inputs, list(proto.output), proto.name, proto.doc_string, metadata,
            {a.name: (a.type, attribute(a), a.doc_string) for a in proto.attribute})


def infos(protos, kept=None):
    return [(i.name, i.type.SerializeToString(deterministic=True), i.doc_string, [(p.key, p.value) for p in i.metadata_props])
            for i in protos if kept is None or i.name in kept]


def graph(proto):
    inner = {o for n in proto.node for o in n.output} - {o.name for o in proto.output} - {i.name for i in proto.input}
    return {
        "nodes": [node(n) for n in proto.node],
        "initializers": {t.name: tensor(t) for t in proto.initializer},
        "inputs": infos(proto.input),
        "outputs": infos(proto.output),
        "value_info": sorted(infos(proto.value_info, inner)),
        "annotations": [a.SerializeToString(deterministic=True) for a in proto.quantization_annotation],
        "doc": proto.doc_string,
        "metadata": [(p.key, p.value) for p in proto.metadata_props],
    }


def model(proto):
    return {
        "graph": graph(proto.graph),
        "opsets": {("" if o.domain == "ai.onnx" else o.domain): o.version for o in proto.opset_import},
        "producer": (proto.producer_name, proto.producer_version, proto.domain, proto.model_version, proto.doc_string),
        "metadata": [(p.key, p.value) for p in proto.metadata_props],
        "training": [t.SerializeToString(deterministic=True) for t in proto.training_info],
    }


def difference(first, second, where=""):
    """Where two such descriptions differ first; None when they do not."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        pairs = [(key, first[key], second[key]) for key in first]
    elif isinstance(first, list | tuple) and type(first) is type(second) and len(first) == len(second):
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(first, second))]
    else:
        same = first == second or (first != first and second != second)
        return None if same else f"{where}: {str(first)[:200]} is now {str(second)[:200]}"
    for key, a, b in pairs:
        found = difference(a, b, f"{where}/{key}")
        if found:
            return found
    return None
