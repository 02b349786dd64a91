#!/usr/bin/env python3
"""Makes the seeds of the fuzz target of whole models: the smallest of ONNX's own node models for each operator, the models
of tests/safety/operators.py, sound and not, and small nets that can be quantized. Usage: make_corpus_flow.py [DIRECTORY]"""
import contextlib
import io
import pathlib
import sys
import warnings

import numpy
from onnx import ValueInfoProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "safety"))
import operators  # noqa: E402

SEED_BYTES = 2048


def node_models():
    from onnx.backend.test.case.node import collect_testcases
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if case.model is not None]
    smallest = {}
    for case in sorted(cases, key=lambda case: (case.model.ByteSize(), case.name)):
        smallest.setdefault(case.model.graph.node[-1].op_type, case)
    return {case.name: case.model for case in smallest.values()}


def net(lines, weights, opset=13):
    """`lines`: "Op inputs > outputs", attributes; weights are ones and zeros of a shape, which can be read in a fuzzer's file."""
    nodes = [helper.make_node(line.split()[0], line.split(">")[0].split()[1:], line.split(">")[1].split(), **attributes)
             for line, attributes in lines]
    constants = [numpy_helper.from_array(numpy.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [1, 2, 4, 4])], [ValueInfoProto(name="y")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def ramp(*shape):
    return numpy.linspace(-1, 1, int(numpy.prod(shape)), dtype=numpy.float32).reshape(shape)


def nets():
    two, one = ramp(2), numpy.ones(2, numpy.float32)
    return {
        "net_conv": net([("Conv x w b > a", {"pads": [1, 1, 1, 1]}), ("BatchNormalization a one b b one > n", {}), ("Relu n > r", {}),
                         ("MaxPool r > p", {"kernel_shape": [2, 2], "strides": [2, 2]}), ("Flatten p > f", {}),
                         ("Gemm f m > y", {"transB": 1})], {"w": ramp(2, 2, 3, 3), "b": two, "one": one, "m": ramp(3, 8)}),
        "net_depthwise": net([("Conv x d > a", {"group": 2}), ("HardSwish a > h", {}), ("Conv h w > c", {}),
                              ("GlobalAveragePool c > g", {}), ("Sigmoid g > s", {}), ("Mul c s > m", {}), ("Conv m w > y", {})],
                             {"d": ramp(2, 1, 1, 1), "w": ramp(2, 2, 1, 1)}, 14),
        "net_join": net([("Conv x w > a", {}), ("Conv a w > b", {}), ("Add a b > s", {}), ("Concat s a > c", {"axis": 1}),
                         ("Slice c from to > l", {}), ("Resize l roi scales > r", {"mode": "nearest"}), ("Transpose r > t", {}),
                         ("MatMul t m > y", {})],
                        {"w": ramp(2, 2, 1, 1), "from": numpy.array([0, 1]), "to": numpy.array([1, 3]), "roi": numpy.float32([]),
                         "scales": numpy.float32([1, 1, 2, 2]), "m": ramp(1, 3)}),
        "net_rows_of_nothing": net([("Resize x roi scales > r", {"mode": "nearest"}), ("Transpose r > t", {}), ("MatMul t m > y", {})],
                                   {"roi": numpy.float32([]), "scales": numpy.float32([1, 1e-30, 2, 131072]), "m": ramp(1, 3)}),
        "net_codes": net([("QuantizeLinear x s z > q", {}), ("DequantizeLinear q s z > d", {}), ("DequantizeLinear k ks kz > w", {"axis": 0}),
                          ("Conv d w > c", {}), ("QuantizeLinear c s z > v", {}), ("DequantizeLinear v s z > y", {})],
                         {"s": numpy.float32(.05), "z": numpy.uint8(128), "k": numpy.int8([[[[1]], [[2]]], [[[3]], [[4]]]]),
                          "ks": numpy.float32([.1, .2]), "kz": numpy.int8([0, 0])}),
    }


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "flow"
    directory.mkdir(parents=True, exist_ok=True)
    models = {**node_models(), **{one.id: one.model() for one in operators.CASES}, **nets()}
    for name, model in models.items():
        seed = model.SerializeToString(deterministic=True)
        if len(seed) <= SEED_BYTES:
            (directory / name).write_bytes(seed)
    sizes = [path.stat().st_size for path in directory.iterdir()]
    print(f"{len(sizes)} seeds, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
