#!/usr/bin/env python3
"""Makes the seeds of the ONNX reader's fuzz target: small models that together use every message and field that the reader
looks into, and the malformed families that are small. Usage: make_corpus_onnx.py [DIRECTORY]"""
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "formats"))
import malformed  # noqa: E402

SEED_BYTES = 2048  # malformed cases past this, and those that take long, are left out


def value(name, shape=(1, 4), code=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, code, shape)


def model(nodes, inputs=None, outputs=None, weights=(), opset=13, **options):
    functions = options.pop("functions", [])
    domains = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in options.pop("domains", [])]
    graph = helper.make_graph(nodes, "g", inputs or [value("x")], outputs or [value("y", None)], list(weights), **options)
    return helper.make_model(graph, opset_imports=domains, ir_version=8, functions=functions)


def tensor(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def every_type():
    tensors = []
    for code in [*range(1, 14), 16, 21, 22]:
        numbers = ["a", "b"] if code == TensorProto.STRING else [1, 0]
        tensors.append(helper.make_tensor(f"typed{code}", code, [2], numbers))
        if code != TensorProto.STRING:
            tensors.append(numpy_helper.from_array(numpy_helper.to_array(tensors[-1]), f"raw{code}"))
    return model([helper.make_node("Identity", ["x"], ["y"])], weights=tensors, opset=21)


def sparse():
    places = helper.make_tensor("", TensorProto.INT64, [2], [1, 3])
    weights = helper.make_sparse_tensor(tensor("w", numpy.float32([5, 6])), places, [4])
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse_initializer=[weights])


def bodies():
    def body(name, op):
        return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [onnx.ValueInfoProto(name=name)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body("t", "Relu"), else_branch=body("e", "Neg"))
    return model([node], [value("x"), value("c", [], TensorProto.BOOL)])


def functions():
    turn = helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Transpose", ["a"], ["b"])],
                                [helper.make_opsetid("", 13)], ["p"], [helper.make_attribute("q", [1, 0])])
    turn.node[0].attribute.add(name="perm", ref_attr_name="q", type=7)
    calls = [helper.make_node("F", ["x"], ["t"], domain="own", p=1), helper.make_node("F", ["t"], ["y"], domain="own")]
    return model(calls, functions=[turn], domains=["own"])


def quantized():
    weights = [tensor("s", numpy.float32(0.5)), tensor("z", numpy.uint8(3)), tensor("w", numpy.int8([[1, 2, 3, 4]] * 4)),
               tensor("ws", numpy.float32([1, 2, 3, 4])), tensor("wz", numpy.int8([0] * 4))]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"],
             ["d"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
             helper.make_node("MatMul", ["d", "wd"], ["y"])]
    return model(nodes, weights=weights)


def old_forms():
    nodes = [helper.make_node("Squeeze", ["x"], ["a"], axes=[0]), helper.make_node("Unsqueeze", ["a"], ["b"], axes=[0]),
             helper.make_node("Slice", ["b"], ["c"], starts=[0], ends=[2]), helper.make_node("Pad", ["c"], ["d"],
             pads=[0, 0, 0, 1], value=1.0), helper.make_node("Split", ["d"], ["e", "f"], axis=1, split=[1, 2]),
             helper.make_node("Concat", ["e", "f"], ["y"], axis=1)]
    return model(nodes, opset=9)


def foreign():
    node = helper.make_node("Own", ["x", "", "w"], ["y"], domain="com.example", f=1.5, i=3, s="text", fs=[1.0, 2.0],
                            ins=[1, 2, 3], ss=["a", "b"], t=tensor("t", numpy.float32([1])))
    out = model([node], [value("x", ["N", None])], weights=[tensor("w", numpy.float32([1]))], domains=["com.example"],
                value_info=[helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [3])))])
    helper.set_model_props(out, {"key": "value"})
    return out


def external():
    weight = tensor("w", numpy.float32([1, 2, 3, 4]))
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, text in [("location", "w.bin"), ("offset", "0"), ("length", "16"), ("checksum", "0" * 40)]:
        weight.external_data.add(key=key, value=text)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], weights=[weight])


MODELS = [every_type, sparse, bodies, functions, quantized, old_forms, foreign, external]


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "onnx"
    directory.mkdir(parents=True, exist_ok=True)
    for make in MODELS:
        (directory / f"model_{make.__name__}").write_bytes(make().SerializeToString(deterministic=True))
    for case in malformed.CASES:
        if isinstance(case.make, bytes) and len(case.make) <= SEED_BYTES and not case.heavy:
            (directory / case.id).write_bytes(case.make)
    sizes = [path.stat().st_size for path in directory.iterdir()]
    print(f"{len(sizes)} seeds, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
