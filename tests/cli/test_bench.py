"""Verb bench: the form of what it tells and what must add up; never how long something takes."""
import numpy as np
import pytest
from bench import S64, f32, model, node

LATENCY = {"min", "median", "p90", "max", "mean", "median_absolute_deviation"}
FIGURES = {"schema", "path", "stage", "backend", "threads", "cpu", "optimized", "inputs", "start_ms", "runs", "latency_ms", "noisy",
           "cpu_ms", "macs", "quantized_macs", "gflops", "memory_bytes"}


def net(shape=(1, 3, 8, 8)):
    generator = np.random.default_rng(1)
    constants = {"w": generator.normal(size=(4, 3, 3, 3)).astype(np.float32), "m": f32([2] * 4, 1, 4, 1, 1),
                 "fc": generator.normal(size=(4, 5)).astype(np.float32)}
    nodes = [node("Conv", "x w", "conv", pads=[1] * 4), node("Mul", "conv m", "mul"), node("Relu", "mul", "relu"),
             node("GlobalAveragePool", "relu", "pooled"), node("Flatten", "pooled", "flat"),
             node("MatMul", "flat fc", "logits"), node("Softmax", "logits", "y")]
    return model(nodes, {"x": list(shape)}, "y", constants)


MACS = 4 * 27 * 64 + 20


def test_what_it_tells(bench):
    path = bench.save(net())
    told = bench.tell("bench", path, "--runs", "7", "--threads", "1", "--cpu", "scalar", "--backend", "float")
    assert told.keys() == FIGURES
    assert (told["schema"], told["path"], told["stage"]) == ("tare-bench/1", str(path), "original_float")
    assert (told["runs"], told["threads"], told["cpu"], told["backend"]) == (7, 1, "scalar", "float")
    assert told["optimized"] is True
    assert told["inputs"] == {"x": {"type": "f32", "shape": [1, 3, 8, 8]}}
    assert (told["macs"], told["quantized_macs"]) == (MACS, 0)
    latency = told["latency_ms"]
    assert latency.keys() == LATENCY
    assert 0 < latency["min"] <= latency["median"] <= latency["p90"] <= latency["max"]
    assert latency["min"] <= latency["mean"] <= latency["max"]
    assert told["noisy"] == (latency["median_absolute_deviation"] > 0.05 * latency["median"])
    assert told["gflops"] == pytest.approx(2e-6 * MACS / latency["median"], rel=1e-6)
    assert told["start_ms"].keys() == {"load", "optimize", "plan", "first_run"}
    memory = told["memory_bytes"]
    assert memory.keys() == {"values", "scratch", "prepared_weights", "weights", "peak_resident"}
    assert memory["weights"] == 4 * (4 * 27 + 20)  # Mul went into the Conv
    assert memory["peak_resident"] > 1 << 20


def test_nodes_add_up(bench):
    told = bench.tell("bench", net(), "--nodes", "--runs", "5")
    rows = told["nodes"]
    assert [row["ms"] for row in rows] == sorted((row["ms"] for row in rows), reverse=True)
    assert sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-6)
    assert sum(row["macs"] for row in rows) == MACS
    names = {row["name"]: row["op"] for row in rows}
    assert names["conv"] == "Conv" and names["logits"] == "MatMul" and "relu" not in names and "mul" not in names
    for row in rows:
        assert row.keys() == {"name", "op", "macs", "ms", "share", "gflops"}
        assert (row["gflops"] is None) == (row["macs"] == 0)
        assert (row["name"] is None) == (row["op"] is None)


def test_as_is(bench):
    told = bench.tell("bench", net(), "--nodes", "--runs", "3", "--as-is")
    assert told["optimized"] is False
    assert "mul" in {row["name"] for row in told["nodes"]}


def test_text_fits(bench):
    deep = model([node("Sin" if i % 2 else "Cos", f"v{i}" if i else "x", f"v{i + 1}", name=f"a/long/name/of/a/node/number/{i}")
                  for i in range(40)], {"x": [1, 5]}, "v40")
    ran = bench.call("bench", bench.save(deep), "--nodes", "--runs", "3")
    assert ran.status == 0, ran.log
    lines = ran.out.splitlines()[1:]
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert sum(" Sin " in line or " Cos " in line for line in lines) == 20
    assert "20 that are faster" in lines[-1]


def test_a_body_is_its_node(bench):
    from onnx import helper
    body = helper.make_graph([node("Identity", "going", "go_on"), node("Mul", "h two", "h2")], "body",
                             [helper.make_tensor_value_info("i", S64, []), helper.make_tensor_value_info("going", 9, []),
                              helper.make_tensor_value_info("h", 1, [3])],
                             [helper.make_tensor_value_info("go_on", 9, []), helper.make_tensor_value_info("h2", 1, [3])])
    loop = model([node("Loop", "count yes x", "y", body=body)], {"x": [3]}, "y",
                 {"count": np.array(4, np.int64), "yes": np.array(True), "two": f32([2])})
    told = bench.tell("bench", loop, "--nodes", "--runs", "3")
    assert [row["op"] for row in told["nodes"] if row["op"]] == ["Loop"]
    assert told["gflops"] == 0


def test_refusals(bench):
    path = bench.save(net((1, 3, "H", "W")))
    bench.refuse(2, "bench", path, words=("--input-shape", "'x'"))
    assert bench.call("bench", path, "--input-shape", "x=1x3x8x8", "--runs", "1").status == 0
    bench.refuse(2, "bench", path, "--runs", "-1", words=("runs",))
    bench.refuse(5, "bench", bench.folder / "none.onnx", words=("none.onnx",))
