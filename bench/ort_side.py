"""ONNX Runtime's side of a comparison, held to one thread.
Usage: ort_side.py infer MODEL                              reads counts of inferences, answers each with its CPU seconds
       ort_side.py quantize METHOD MODEL SAMPLES.npy N OUT  quantize_static on the first N samples"""

import os
import sys
import time

# Before the import: the number of threads is taken from what the process may use, also by the calibrators' own sessions.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np
import onnxruntime


def infer(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    feeds = {given.name: random.uniform(-1, 1, [d if isinstance(d, int) else 1 for d in given.shape]).astype(np.float32)
             for given in session.get_inputs()}
    session.run(None, feeds)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.process_time()
        for _ in range(int(line)):
            session.run(None, feeds)
        print(time.process_time() - start, flush=True)


def quantize(method, model, samples, count, out):
    from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType,
                                          quantize_static)

    class Reader(CalibrationDataReader):
        def __init__(self):
            name = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()[0].name
            self.feeds = ({name: np.array(sample)} for sample in np.load(samples, mmap_mode="r")[:int(count)])

        def get_next(self):
            return next(self.feeds, None)

    quantize_static(model, out, Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod[method])


if __name__ == "__main__":
    {"infer": infer, "quantize": quantize}[sys.argv[1]](*sys.argv[2:])
