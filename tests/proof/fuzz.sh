# Each fuzz target for 10 minutes of CPU without a finding. A part names the sources that its input reaches, so that a
# change of one reader asks for its own ten minutes again.
# proves: src/base tests/support/fuzz.c tools/fuzz
# part flow: tests/fuzz/fuzz_flow.c src/api/sized.c src/formats/onnx src/graph src/kernels src/ops src/passes src/run
# part image: tests/fuzz/fuzz_image.c src/samples/image.h src/samples/images.c src/samples/image_jpeg.c src/samples/image_png.c
# part image: src/samples/resize_opencv.c src/samples/resize_pillow.c src/samples/resize_skimage.c
# part list: tests/fuzz/fuzz_list.c src/samples/csv.c src/samples/csv.h src/samples/data.c src/samples/data.h
# part list: src/samples/directory.c src/samples/list.c src/samples/preplan.c src/samples/preprocess.h src/samples/raw.c
# part location: tests/fuzz/fuzz_location.c
# part npy: tests/fuzz/fuzz_npy.c src/samples/array.c src/samples/array.h src/samples/convert.c src/samples/npy.c
# part npy: src/samples/npy.h src/graph/dtype.c src/graph/shape.c src/graph/tensor.c
# part npz: tests/fuzz/fuzz_npz.c src/samples/array.c src/samples/array.h src/samples/npy.c src/samples/npy.h
# part npz: src/samples/npz.c src/samples/npz.h src/graph/dtype.c src/graph/shape.c src/graph/tensor.c
# part onnx: tests/fuzz/fuzz_onnx.c tests/fuzz/onnx.dict src/formats src/graph src/ops/attr.c src/ops/attr.h src/ops/op.h
# part onnx: src/ops/ops.c src/ops/ops.def
# part ranges: tests/fuzz/fuzz_ranges.c tests/fuzz/ranges.dict src/calibrate/calibrate.h src/calibrate/range.c
# part ranges: src/calibrate/range.h src/calibrate/ranges_read.c src/calibrate/ranges_write.c src/calibrate/sum.c
# part recipe: tests/fuzz/fuzz_recipe.c src/recipe include/tare/recipe.h
# part text: tests/fuzz/fuzz_text.c
# part text_form: tests/fuzz/fuzz_text_form.c src/graph src/kernels src/ops src/passes
set -eu
exec tools/fuzz --minutes 10 "$1"
