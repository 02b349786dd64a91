# Random graphs of single nodes on codes, 24,000 of them, against ONNX Runtime: no code differs.
# proves: src tests/targets
set -eu
cmake --preset dev >/dev/null
cmake --build --preset dev
TARE_DRIVERS="$PWD/build/dev/tests" TARE_SEEDS=16 build/venv/bin/python -m pytest -q -s -k "codes_are_equal or together" \
    tests/targets/test_onnx_codes.py >"$PROOF_DIR/log" 2>&1 || { cat "$PROOF_DIR/log"; exit 1; }
tail -n 4 "$PROOF_DIR/log"
grep -q "of 24000 graphs" "$PROOF_DIR/log" || exit 77 # skipped: another ONNX Runtime, or a CPU without VNNI
