# Each fuzz target for 10 minutes of CPU without a finding. A part names the sources that its input reaches, so that a
# change of one reader asks for its own ten minutes again.
# proves: src/base/memory.c src/base/memory.h src/base/size.h src/base/text.c src/base/text.h tests/support/fuzz.c
# proves: tools/fuzz
# part flow: tests/fuzz/fuzz_flow.c include src/api src/base src/calibrate src/compare src/formats/onnx src/graph
# part flow: src/kernels src/ops src/passes src/quantize src/run src/targets
# part image: tests/fuzz/fuzz_image.c src/base/arena.c src/base/status.c src/base/status.h src/samples/image.h
# part image: src/samples/images.c src/samples/image_jpeg.c src/samples/image_png.c src/samples/resize_opencv.c
# part image: src/samples/resize_pillow.c src/samples/resize_skimage.c
# part list: tests/fuzz/fuzz_list.c src/base/arena.c src/base/path.c src/base/status.c src/base/status.h
# part list: src/samples/color.c src/samples/csv.c src/samples/csv.h src/samples/data.c src/samples/data.h
# part list: src/samples/directory.c src/samples/list.c src/samples/preplan.c src/samples/preprocess.h
# part list: src/samples/raw.c src/graph/dtype.c src/graph/shape.c src/graph/tensor.c
# part location: tests/fuzz/fuzz_location.c src/base/calls.c src/base/calls.h src/base/file.h src/base/file_read.c
# part location: src/base/status.c src/base/status.h
# part npy: tests/fuzz/fuzz_npy.c src/base/arena.c src/base/status.c src/base/status.h src/samples/array.c
# part npy: src/samples/array.h src/samples/convert.c src/samples/npy.c src/samples/npy.h src/graph/dtype.c
# part npy: src/graph/shape.c src/graph/tensor.c
# part npz: tests/fuzz/fuzz_npz.c src/base/arena.c src/base/calls.c src/base/calls.h src/base/file.h
# part npz: src/base/file_read.c src/base/map.c src/base/map.h src/base/status.c src/base/status.h src/samples/array.c
# part npz: src/samples/array.h src/samples/convert.c src/samples/npy.c src/samples/npy.h src/samples/npz.c
# part npz: src/samples/npz.h src/graph/dtype.c src/graph/shape.c src/graph/tensor.c
# part onnx: tests/fuzz/fuzz_onnx.c tests/fuzz/onnx.dict src/base/arena.c src/base/calls.c src/base/calls.h
# part onnx: src/base/constants.c src/base/constants.h src/base/field.c src/base/field.h src/base/file.h
# part onnx: src/base/file_read.c src/base/file_write.c src/base/log.c src/base/log.h src/base/map.c src/base/map.h
# part onnx: src/base/status.c src/base/status.h src/base/threads.c src/base/threads.h src/formats src/graph
# part onnx: src/ops/attr.c src/ops/attr.h src/ops/describe.c src/ops/op.h src/ops/ops.c src/ops/ops.def
# part onnx: src/ops/upgrade.c
# part ranges: tests/fuzz/fuzz_ranges.c tests/fuzz/ranges.dict src/base/arena.c src/base/map.c src/base/map.h
# part ranges: src/base/status.c src/base/status.h src/calibrate/calibrate.h src/calibrate/range.c
# part ranges: src/calibrate/range.h src/calibrate/ranges_read.c src/calibrate/ranges_write.c src/calibrate/sum.c
# part recipe: tests/fuzz/fuzz_recipe.c src/base/arena.c src/base/field.c src/base/field.h src/base/field_parse.c
# part recipe: src/base/status.c src/base/status.h src/recipe include/tare/recipe.h
# part text: tests/fuzz/fuzz_text.c
# part text_form: tests/fuzz/fuzz_text_form.c src/base/arena.c src/base/constants.c src/base/constants.h
# part text_form: src/base/field.c src/base/field.h src/base/file.h src/base/file_read.c src/base/log.c src/base/log.h
# part text_form: src/base/map.c src/base/map.h src/base/status.c src/base/status.h src/base/threads.c
# part text_form: src/base/threads.h src/graph src/kernels src/ops src/passes
set -eu
exec tools/fuzz --minutes 10 "$1"
