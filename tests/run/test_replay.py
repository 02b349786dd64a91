"""Node replay of the qdq backend: each node of a QDQ file gets what ONNX Runtime (optimizations off) had at its inputs, and
the codes behind it are compared with ONNX Runtime's. All nodes of a file are one model whose activations are inputs."""
import numpy as np
import onnx
import pytest
import reference
from onnx import helper
from test_models import MODELS, model_name, run_driver

QUANTIZED = sorted([*MODELS.glob("quantized_forms/*_qdq_*.onnx"), *MODELS.glob("*/model_qdq_from_tflite.onnx"),
                    *MODELS.glob("qat_torch_mnist/model_qat_torch_qdq_*.onnx")])
pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason=f"{MODELS} is not there: no file is replayed (TARE_SHARED)")
TOTALS = {"codes": 0, "different": 0}


def constant_names(model):
    """Initializers, and what DQ, Q, Identity and Constant nodes make of them alone."""
    names = {tensor.name for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type in ("Constant", "Identity", "QuantizeLinear", "DequantizeLinear") and all(i in names for i in node.input if i):
            names.update(node.output)
    return names


def cut_into_nodes(model):
    """(model of unconnected nodes, [(name of the real output, scale, zero) or (name, None, None)])."""
    constants = constant_names(model)
    readers = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    nodes = [node for node in model.graph.node if all(name in constants for name in node.output)]
    outputs, wanted = [], set()
    for node in model.graph.node:
        if node.output[0] not in constants and node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
            copy = onnx.NodeProto.FromString(node.SerializeToString())
            for i, name in enumerate(copy.input):
                if name and name not in constants:
                    wanted.add(name)
                    copy.input[i] = name + "@in"
            made = node.output[0]
            copy.output[0] = made + "@node"
            nodes.append(copy)
            behind = next((n for n in readers.get(made, []) if n.op_type == "QuantizeLinear"), None)
            if behind is None:
                outputs.append((made + "@node", None, None))
                continue
            scales = list(behind.input[1:])
            nodes.append(helper.make_node("QuantizeLinear", [made + "@node", *scales], [made + "@q"], domain=behind.domain))
            nodes.append(helper.make_node("DequantizeLinear", [made + "@q", *scales], [made + "@dq"], domain=behind.domain))
            outputs.append((made + "@dq", *scales))
    graph = helper.make_graph(nodes, "replay", [], [], list(model.graph.initializer))
    replay = helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)
    return replay, wanted, outputs


def declare(replay, feeds, outputs, values):
    for name, array in feeds.items():
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        replay.graph.input.append(helper.make_tensor_value_info(name, dtype, array.shape))
    for name, _, _ in outputs:
        array = values[name.rsplit("@", 1)[0]]
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        replay.graph.output.append(helper.make_tensor_value_info(name, dtype, array.shape))


@pytest.mark.parametrize("path", QUANTIZED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_codes_are_equal(path, tmp_path):
    model = onnx.load(path)
    feeds = reference.fit_feeds(model, reference.feeds_of(model_name(path)))
    values = {**feeds, **reference.kept_runtime_values(model, feeds)}
    replay, wanted, outputs = cut_into_nodes(model)
    inputs = {name + "@in": values[name] for name in wanted}
    declare(replay, inputs, outputs, values)
    file = tmp_path / "replay.onnx"
    onnx.save(replay, file)
    theirs = reference.kept_runtime_values(replay, inputs)
    constants = {**values, **{t.name: onnx.numpy_helper.to_array(t) for t in replay.graph.initializer}}
    with np.load(run_driver(file, inputs, tmp_path, "--backend", "qdq")) as ours:
        for name, scale, _ in outputs:
            if scale is None:
                continue
            step = constants[scale].astype(np.float64)
            v = theirs[name.rsplit("@", 1)[0] + "@node"] / step
            difference = np.rint(ours[name] / step) - np.rint(theirs[name] / step)
            TOTALS["codes"] += difference.size
            TOTALS["different"] += int((difference != 0).sum())
            assert np.abs(difference).max() <= 1, f"{name}: codes differ by {np.abs(difference).max():g}"
            off_tie = np.abs(np.abs(v - np.floor(v)) - 0.5)[difference != 0]
            near = 1e-3 if theirs[name.rsplit("@", 1)[0] + "@q"].dtype.itemsize == 1 else 0.05  # 16 bits: 256 times finer
            assert off_tie.size == 0 or off_tie.max() < near, f"{name}: a code differs {off_tie.max():g} steps from a tie"
            if off_tie.size:
                print(f"{path.name}: {name}: {off_tie.size} of {difference.size} codes differ, at most "
                      f"{off_tie.max():.2g} steps from a tie")


def test_nearly_all_codes_are_equal():
    """After all files: 99.99 of 100."""
    if not TOTALS["codes"]:
        pytest.skip("no file was replayed")
    print(f"{TOTALS['different']} of {TOTALS['codes']} codes differ")
    assert TOTALS["different"] <= 1e-4 * TOTALS["codes"]
