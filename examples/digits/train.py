#!/usr/bin/env python3
"""Trains the example: a small convolutional net that reads handwritten digits, on the 8x8 digits of scikit-learn (UCI's
optical recognition set, real handwriting). Writes digits.onnx and, from the digits it was not trained on, images/ with
labels.csv. Needs numpy, onnx, pillow and scikit-learn; takes about a minute. The same seed gives the same net on one
machine; the files in the repository are what it wrote.
"""
import csv
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(7)
LAYERS = ((1, 8, 1), (8, 16, 2), (16, 32, 1))  # 3x3 convolutions: channels in, channels out, stride


def windows(x, stride):
    """x[n, c, h, w], padded by 1: the 3x3 windows as [n, oh, ow, c * 9]."""
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    view = view[:, :, ::stride, ::stride].transpose(0, 2, 3, 1, 4, 5)
    return view.reshape(*view.shape[:3], -1)


def back_to_image(grad, shape, stride):
    """The gradient of windows()."""
    n, c, h, w = shape
    out = np.zeros((n, c, h + 2, w + 2), np.float32)
    oh, ow = grad.shape[1:3]
    grad = grad.reshape(n, oh, ow, c, 3, 3).transpose(0, 3, 1, 2, 4, 5)
    for i in range(3):
        for j in range(3):
            out[:, :, i:i + stride * oh:stride, j:j + stride * ow:stride] += grad[..., i, j]
    return out[:, :, 1:-1, 1:-1]


def forward(p, x):
    saved = []
    for k, (_, channels, stride) in enumerate(LAYERS):
        cols = windows(x, stride)
        y = np.maximum(cols @ p[f'w{k}'].reshape(channels, -1).T + p[f'b{k}'], 0).transpose(0, 3, 1, 2)
        saved.append((x.shape, cols, y))
        x = y
    pooled = x.mean((2, 3))
    return pooled @ p['w'] + p['b'], (saved, pooled)


def gradients(p, x, labels):
    logits, (saved, pooled) = forward(p, x)
    e = np.exp(logits - logits.max(1, keepdims=True))
    d = e / e.sum(1, keepdims=True)
    d[np.arange(len(x)), labels] -= 1
    d /= len(x)
    g = {'w': pooled.T @ d, 'b': d.sum(0)}
    y = saved[-1][2]
    d = np.broadcast_to((d @ p['w'].T)[:, :, None, None], y.shape) / (y.shape[2] * y.shape[3])
    for k in reversed(range(len(LAYERS))):
        shape, cols, y = saved[k]
        flat = (d * (y > 0)).transpose(0, 2, 3, 1).reshape(-1, LAYERS[k][1])
        g[f'w{k}'] = (flat.T @ cols.reshape(-1, cols.shape[-1])).reshape(p[f'w{k}'].shape)
        g[f'b{k}'] = flat.sum(0)
        d = back_to_image((flat @ p[f'w{k}'].reshape(LAYERS[k][1], -1)).reshape(cols.shape), shape, LAYERS[k][2])
    return g


def train(x, labels, epochs=60, batch=32, rate=4e-3):
    p = {'w': RANDOM.normal(0, .3, (LAYERS[-1][1], 10)), 'b': np.zeros(10)}
    for k, (a, b, _) in enumerate(LAYERS):
        p |= {f'w{k}': RANDOM.normal(0, (2 / (9 * a)) ** .5, (b, a, 3, 3)), f'b{k}': np.zeros(b)}
    p = {k: v.astype(np.float32) for k, v in p.items()}
    m, v, step = {k: 0 for k in p}, {k: 0 for k in p}, 0
    for epoch in range(epochs):
        order = RANDOM.permutation(len(x))
        for i in range(0, len(x), batch):
            pick, step = order[i:i + batch], step + 1
            for k, grad in gradients(p, x[pick], labels[pick]).items():
                m[k] = .9 * m[k] + .1 * grad
                v[k] = .999 * v[k] + .001 * grad * grad
                now = rate * (1 - epoch / epochs)
                p[k] = (p[k] - now * (m[k] / (1 - .9 ** step)) / (np.sqrt(v[k] / (1 - .999 ** step)) + 1e-8)).astype(np.float32)
    return p


def save(p, path):
    """The net takes pixels of 0..255: the first layer's weights have the division in them."""
    nodes, name = [], 'image'
    tensors = {k: v for k, v in p.items()} | {'w0': p['w0'] / np.float32(255)}
    for k, (_, _, stride) in enumerate(LAYERS):
        nodes += [helper.make_node('Conv', [name, f'w{k}', f'b{k}'], [f'conv{k}'], f'conv{k}', pads=[1] * 4,
                                   strides=[stride] * 2),
                  helper.make_node('Relu', [f'conv{k}'], [f'relu{k}'], f'relu{k}')]
        name = f'relu{k}'
    nodes += [helper.make_node('GlobalAveragePool', [name], ['pooled'], 'pool'),
              helper.make_node('Flatten', ['pooled'], ['features'], 'flatten'),
              helper.make_node('Gemm', ['features', 'w', 'b'], ['logits'], 'classifier')]
    graph = helper.make_graph(nodes, 'digits',
                              [helper.make_tensor_value_info('image', TensorProto.FLOAT, ['N', 1, 8, 8])],
                              [helper.make_tensor_value_info('logits', TensorProto.FLOAT, ['N', 10])],
                              [numpy_helper.from_array(v.astype(np.float32), k) for k, v in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8, producer_name='tare example')
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    digits = load_digits()
    pixels = np.round(digits.images * 255 / 16).astype(np.uint8)
    order = RANDOM.permutation(len(pixels))
    held, learnt = order[:300], order[300:]
    x = (pixels[:, None] / np.float32(255)).astype(np.float32)
    p = train(x[learnt], digits.target[learnt])
    found = forward(p, x[held])[0].argmax(1)
    print(f'top-1 on {len(held)} digits it never saw: {100 * (found == digits.target[held]).mean():.2f} %')
    save(p, HERE / 'digits.onnx')
    images = HERE / 'images'
    images.mkdir(exist_ok=True)
    with open(HERE / 'labels.csv', 'w', newline='') as f:
        rows = csv.writer(f, lineterminator='\n')
        rows.writerow(('file', 'label'))
        for i, at in enumerate(held[:60]):
            Image.fromarray(pixels[at]).save(images / f'{i:02d}.png')
            rows.writerow((f'{i:02d}.png', int(digits.target[at])))


if __name__ == '__main__':
    main()
