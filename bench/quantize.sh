#!/usr/bin/env bash
# What `tare quantize` costs, beside float inference and ONNX Runtime: see quantize.py.
exec build/venv/bin/python bench/quantize.py "$@"
