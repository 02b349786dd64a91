"""LSTM, GRU and RNN against ONNX Runtime: directions, lengths, biases, states, peepholes, both layouts of GRU's reset."""
import itertools
import os
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}
STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6
CASES = [(op, direction, before, lengths, bias)
         for op, direction, before, lengths, bias in itertools.product(
             GATES, ('forward', 'reverse', 'bidirectional'), (0, 1), (False, True), (False, True))
         if op == 'GRU' or not before]


def make(op, direction, before, lengths, bias, constant):
    random = np.random.default_rng(GATES[op] * 7 + before)
    gates, directions = GATES[op], 2 if direction == 'bidirectional' else 1
    draw = lambda *shape: (random.normal(size=shape) * .5).astype(np.float32)
    tensors = {'W': draw(directions, gates * HIDDEN, INPUT), 'R': draw(directions, gates * HIDDEN, HIDDEN),
               'h0': draw(directions, BATCH, HIDDEN)}
    if bias:
        tensors['b'] = draw(directions, 2 * gates * HIDDEN)
    if lengths:
        tensors['l'] = np.array([5, 2, 4], np.int32)
    names = ['x', 'W', 'R', 'b' if bias else '', 'l' if lengths else '', 'h0']
    outputs = ['y', 'yh']
    if op == 'LSTM':
        tensors |= {'c0': draw(directions, BATCH, HIDDEN), 'P': draw(directions, 3 * HIDDEN)}
        names, outputs = names + ['c0', 'P'], outputs + ['yc']
    attributes = {'hidden_size': HIDDEN, 'direction': direction}
    if op == 'GRU':
        attributes['linear_before_reset'] = before
    feeds = {'x': draw(STEPS, BATCH, INPUT)}
    if not constant:
        feeds |= tensors
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
              for k, v in feeds.items()]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, **attributes)], 'g', inputs,
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, ['a', 'b', 'c', 'd'][:4 if o == 'y' else 3]) for o in outputs],
        [onnx.numpy_helper.from_array(v, k) for k, v in tensors.items()] if constant else [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 14)], ir_version=8), feeds, outputs


@pytest.mark.parametrize('constant', (True, False))
@pytest.mark.parametrize('case', CASES, ids=lambda c: '-'.join(map(str, c)))
def test_agrees(tmp_path, case, constant):
    model, feeds, outputs = make(*case, constant)
    path = str(tmp_path / 'model.onnx')
    onnx.save(model, path)
    np.savez(tmp_path / 'in.npz', **feeds)
    want = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider']).run(None, feeds)
    subprocess.run([os.environ['TARE_PROGRAM'], 'run', path, '--data', str(tmp_path / 'in.npz'), '-o',
                    str(tmp_path / 'out.npz')], check=True)
    with np.load(tmp_path / 'out.npz') as got:
        for name, array in zip(outputs, want):
            assert got[name].shape == array.shape
            assert np.abs(got[name] - array).max() <= 1e-5 * max(1, np.abs(array).max()), name
