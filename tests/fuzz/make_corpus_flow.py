#!/usr/bin/env python3
"""Makes the seeds of the fuzz target of whole models: the smallest of ONNX's own node models for each operator, and the
models of tests/safety/operators.py, sound and not. Usage: make_corpus_flow.py [DIRECTORY]"""
import contextlib
import io
import pathlib
import sys
import warnings

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


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "flow"
    directory.mkdir(parents=True, exist_ok=True)
    models = {**node_models(), **{one.id: one.model() for one in operators.CASES}}
    for name, model in models.items():
        seed = model.SerializeToString(deterministic=True)
        if len(seed) <= SEED_BYTES:
            (directory / name).write_bytes(seed)
    sizes = [path.stat().st_size for path in directory.iterdir()]
    print(f"{len(sizes)} seeds, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
