# Quantizing and calibrating every shared model, and the bundled one, gives the same bytes for 1, 2 and 7 threads, every
# instruction set of this machine, gcc and clang as users get them; and ranges of three shards, merged, those of the whole.
# proves: CMakeLists.txt include src tools/hash-matrix
set -eu
shared=${TARE_SHARED:-../shared}/models
python=build/venv/bin/python
samples=12
for compiler in gcc clang-14; do
    cmake --preset release -B "build/proof-$compiler" -DCMAKE_C_COMPILER=$compiler -DTARE_TESTS=OFF >/dev/null
    cmake --build "build/proof-$compiler" --target tare >"$PROOF_DIR/build.log" || { cat "$PROOF_DIR/build.log"; exit 1; }
done
tare=build/proof-gcc/tare

try() { # NAME MODEL DATA...: what passed before this was stopped is not tried again
    name=$1 model=$2
    shift 2
    [ ! -e "$PROOF_DIR/$name.done" ] || return 0
    echo "== $name"
    for form in quantize:onnx calibrate:json; do
        tools/hash-matrix --build build/proof-gcc --build build/proof-clang-14 -- "${form%:*}" "$model" "$@" \
            -o "{out}/out.${form#*:}"
    done
    for shard in 0 1 2; do
        "$tare" calibrate "$model" "$@" --shard "$shard/3" -q -o "$PROOF_DIR/$shard.json" >/dev/null
    done
    "$tare" calibrate "$model" "$@" -q -o "$PROOF_DIR/whole.json" >/dev/null
    while read -r a b c; do
        "$tare" merge "$PROOF_DIR/$a.json" "$PROOF_DIR/$b.json" "$PROOF_DIR/$c.json" -q -o "$PROOF_DIR/merged.json" >/dev/null
        cmp "$PROOF_DIR/whole.json" "$PROOF_DIR/merged.json"
    done <<<$'0 1 2\n0 2 1\n1 0 2\n1 2 0\n2 0 1\n2 1 0'
    echo "merged in 6 orders: the same bytes"
    touch "$PROOF_DIR/$name.done"
}

try digits examples/digits/digits.onnx --data examples/digits/images
if [ ! -d "$shared" ]; then
    echo "$shared is not there: the shared models are not tried (TARE_SHARED)"
    exit 77
fi
for name in $("$python" "$shared/score.py" list); do
    model=$shared/$name/model.onnx
    feeds=$PROOF_DIR/feeds/$name
    [ -e "$model" ] || continue # other samples of a model that has its own turn
    if [ ! -e "$feeds/list.txt" ]; then
        mkdir -p "$feeds"
        "$python" "$shared/score.py" feeds "$name" --use calib -o "$feeds" >/dev/null
    fi
    try "$name" "$model" --data "$feeds" --samples $samples
done
