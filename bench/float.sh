#!/usr/bin/env bash
# Float inference beside ONNX Runtime: see float.py.
exec build/venv/bin/python bench/float.py "$@"
