"""Malformed ONNX files, family by family: what each holds, the exit status it must get, and words that its error must
have. Families are numbered as in docs/formats/onnx.md. Run as a program: writes them all to a directory.
Usage: malformed.py DIRECTORY"""
import os
import pathlib
import random
import struct
import sys

from wire import attribute, graph, info, integer, key, model, node, real, small, tensor, text, varint

OK, MALFORMED, UNSUPPORTED, IO, LIMIT = 0, 3, 4, 5, 6
FLOAT, INT8, INT32, INT64, STRING, BOOL, FLOAT16, UINT4, INT4 = 1, 3, 6, 7, 8, 9, 10, 21, 22
PLAIN = model(small())
CASES = []


class Case:
    """`make` is the file's bytes, or a function that fills a directory and returns the path to read."""

    def __init__(self, family, name, make, status, *words, arguments=(), heavy=False):
        self.id = f"{family:02d}_{name}"
        self.make, self.status, self.words, self.arguments, self.heavy = make, status, words, arguments, heavy

    def write(self, directory):
        directory = pathlib.Path(directory)
        if callable(self.make):
            return self.make(directory)
        path = directory / f"{self.id}.onnx"
        path.write_bytes(self.make)
        return path


def case(*arguments, **options):
    CASES.append(Case(*arguments, **options))


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def with_tensor(data):
    """The model adds the tensor w to x."""
    return model(small([node("Add", ["x", "w"], ["y"], name="add")], initializers=[data]))


# ---- 1-24: container and wire format ----
noise = random.Random(1)
case(1, "empty", b"", MALFORMED, "empty file")
case(2, "one_byte", b"\x08", MALFORMED, "byte 0", "ModelProto")
for seed in range(4):
    case(3, f"random_{seed}", bytes(noise.randrange(256) for _ in range(4096)), MALFORMED)
for name, start, word in [("png", b"\x89PNG\r\n\x1a\n", "PNG image"), ("zip", b"PK\x03\x04", "zip archive"),
                          ("tflite", b"\x1c\0\0\0TFL3", "TFLite"), ("html", b"<!DOCTYPE html><html>", "HTML"),
                          ("lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
                          ("hdf5", b"\x89HDF\r\n\x1a\n", "HDF5"), ("gguf", b"GGUF\3\0\0\0", "GGUF"),
                          ("json", b'{"a": 1}', "JSON"), ("jpeg", b"\xff\xd8\xff\xe0", "JPEG")]:
    case(4, name, start + bytes(40), MALFORMED, word, "no ONNX file")
case(6, "length_past_end", PLAIN + key(7, 2) + varint(500), MALFORMED, "past the end", f"byte {len(PLAIN)}")
for name, length in [("2_63", 1 << 63), ("2_64_1", (1 << 64) - 1)]:
    case(7, f"length_{name}", integer(1, 8) + key(7, 2) + varint(length), MALFORMED, "byte 2", str(length))
case(8, "varint_of_11_bytes", key(1, 0) + b"\xff" * 10 + b"\x01", MALFORMED, "byte 0", "field 1")
case(9, "varint_not_minimal", key(1, 0) + varint(8, 5) + PLAIN[2:], OK)
case(10, "field_0", PLAIN + key(0, 0) + b"\x01", MALFORMED, "field number 0", f"byte {len(PLAIN)}")
for wire_type in (6, 7):
    case(11, f"wire_type_{wire_type}", PLAIN + key(50, wire_type) + b"\x01", MALFORMED, f"wire type {wire_type}")
case(12, "group", PLAIN + key(50, 3) + key(50, 4), MALFORMED, "wire type 3")
case(12, "groups_nested", PLAIN + key(50, 3) * 100000, MALFORMED, "wire type 3")
case(13, "graph_as_integer", integer(1, 8) + integer(7, 1), MALFORMED, "field 7", "wire type 0, want 2")
case(13, "ir_version_as_text", text(1, "8") + PLAIN[2:], MALFORMED, "field 1", "wire type 2, want 0")
case(13, "name_as_integer", model(graph([text(1, "x") + integer(4, 1)])), MALFORMED, "NodeProto", "wire type 0")
case(13, "attribute_as_integer", model(small([node("Relu", ["x"], ["y"]) + integer(5, 1)])), MALFORMED, "wire type 0")
case(14, "unknown_fields", PLAIN + integer(1000, 5) + text(1001, "kept") + key(1002, 1) + bytes(8), OK)
case(15, "unknown_field_of_1_gib", PLAIN + key(1001, 2) + varint(1 << 30) + b"x", MALFORMED, str(1 << 30))
case(16, "two_graphs", PLAIN + text(7, small()), MALFORMED, "field 7", "stands twice")
case(16, "two_names", model(small() + text(2, "again")), MALFORMED, "field 2 of GraphProto", "stands twice")
mixed = text(4, floats(1, 2)) + real(4, 3) + text(4, floats(4))
case(17, "packed_and_not", with_tensor(tensor("w", [4], FLOAT, mixed)), OK)
case(18, "packed_floats_cut", with_tensor(tensor("w", [1], FLOAT, text(4, b"\0\0\0"))), MALFORMED, "3 bytes",
     "TensorProto")
case(19, "types_nested", model(small(infos=[text(1, "y") + text(2, text(4, text(1, b"")) * 1)])), OK)
for name, bad in [("not_utf8", b"a\xff"), ("nul", b"a\0b"), ("escape", b"a\x1b[31mb")]:
    case(20, f"node_name_{name}", model(small([node("Relu", ["x"], ["y"], name=bad)])), MALFORMED, "field 3")
    case(20, f"value_name_{name}", model(small([node("Relu", ["x"], [bad], name="n")], outputs=[info(bad)])),
         MALFORMED, "field 2")
case(20, "name_of_5000_bytes", model(small([node("Relu", ["x"], ["y"], name="n" * 5000)])), LIMIT, "5000 bytes")
ones = text(8, b"\1" * 20000000)
case(21, "ints_bomb", model(small([node("Foo", ["x"], ["y"], text(1, "a") + ones + integer(20, 7), domain="d")])), OK,
     heavy=True)
case(21, "dims_bomb", with_tensor(text(1, b"\1" * 10000000) + integer(2, 1) + text(8, "w")), LIMIT, "64 dimensions",
     heavy=True)


def special(kind):
    def make(directory):
        path = directory / "special.onnx"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "zero":
            os.symlink("/dev/zero", path)
        elif kind == "directory":
            path.mkdir()
        elif kind == "unreadable":
            path.write_bytes(PLAIN)
            path.chmod(0)
        elif kind == "huge":
            with path.open("wb") as file:
                file.write(integer(1, 8))
                file.truncate(1 << 31)
        return path
    return make


for kind, word in [("fifo", "a pipe"), ("zero", "a device"), ("directory", "a directory"), ("missing", "open")]:
    case(23, kind, special(kind), IO, word, "special.onnx")
case(24, "2_gib", special("huge"), LIMIT, str(1 << 31), heavy=True)

# ---- 25-33: the model around the graph ----
case(25, "no_graph", model(None), MALFORMED, "no graph")
for version, status in [(0, MALFORMED), (-1, MALFORMED), (None, MALFORMED), (1 << 31, UNSUPPORTED), (99, UNSUPPORTED),
                        (2, UNSUPPORTED)]:
    case(26, f"ir_version_{version}", model(small(), ir_version=version), status, "ir_version")
case(27, "no_opset_import", model(small(), opset=None), MALFORMED, "no opset_import")
for opset in (0, -5, 6, 26, 999):
    case(28, f"opset_{opset}", model(small(), opset=opset), UNSUPPORTED, f"opset {opset}, supported 7-25")
twice = text(8, text(1, "ai.onnx") + integer(2, 13))
case(29, "domain_twice", PLAIN + twice, MALFORMED, "two opset_imports")
case(30, "unknown_domain", model(small([node("Foo", ["x"], ["y"], domain="nowhere")])), OK)


def function(name, body, inputs=("a",), outputs=("b",), opset=13, extra=b""):
    out = text(1, name) + b"".join(text(4, i) for i in inputs) + b"".join(text(5, o) for o in outputs)
    out += b"".join(text(7, n) for n in body) + text(9, text(1, "") + integer(2, opset)) + text(10, "own")
    return text(25, out + extra)


def calls(*nodes, functions):
    return model(small(list(nodes)), extra=text(8, text(1, "own") + integer(2, 1)) + b"".join(functions))


call_f = node("F", ["x"], ["y"], name="call", domain="own")
ring = [function("F", [node("G", ["a"], ["b"], domain="own")]), function("G", [node("F", ["a"], ["b"], domain="own")])]
case(31, "functions_in_a_ring", calls(call_f, functions=ring), MALFORMED, "F called by G called by F", "'call'")
case(31, "function_calls_itself", calls(call_f, functions=[function("F", [node("F", ["a"], ["b"], domain="own")])]),
     MALFORMED, "F called by F")
case(32, "100000_functions", model(small(), extra=b"".join(function(f"F{i}", []) for i in range(100000))), LIMIT,
     "100000 functions", heavy=True)
doubling = [function(f"F{i}", [node(f"F{i + 1}", ["a"], ["t"], domain="own"), node(f"F{i + 1}", ["t"], ["b"],
            domain="own")]) for i in range(31)] + [function("F31", [node("Relu", ["a"], ["b"])])]
case(32, "functions_that_double", calls(node("F0", ["x"], ["y"], domain="own"), functions=doubling), LIMIT,
     "functions are inlined", heavy=True)
chain = [function(f"F{i}", [node(f"F{i + 1}", ["a"], ["b"], domain="own")]) for i in range(100)]
case(32, "functions_100_deep", calls(node("F0", ["x"], ["y"], domain="own"), functions=chain), LIMIT, "32 deep")
plain_f = [function("F", [node("Relu", ["a"], ["b"])])]
case(33, "too_many_inputs", calls(node("F", ["x", "x"], ["y"], domain="own", name="n"), functions=plain_f), MALFORMED,
     "2 inputs", "'n'")
case(33, "too_many_outputs", calls(node("F", ["x"], ["y", "z"], domain="own", name="n"), functions=plain_f), MALFORMED,
     "2 outputs", "'n'")
case(33, "output_nobody_makes", calls(call_f, functions=[function("F", [node("Relu", ["a"], ["c"])])]), MALFORMED,
     "nothing makes output 'b'")
case(33, "function_twice", calls(call_f, functions=plain_f + plain_f), MALFORMED, "'F'", "stands twice")
twice_inside = function("F", [node("Relu", ["a"], ["t"]), node("Neg", ["a"], ["t"]), node("Relu", ["t"], ["b"])])
case(33, "made_twice_inside", calls(call_f, functions=[twice_inside]), MALFORMED, "'t'", "made twice in function 'F'", "'call'")
many_names = function("F", [node("Relu", ["a"], ["b"])], inputs=["a", *(f"i{i}" for i in range(5000))])
case(33, "5001_inputs", calls(call_f, functions=[many_names]), LIMIT, "4096 inputs")
big_node = node("Foo", ["a"], ["t"], attribute("a", 7, text(8, b"\1" * 1000000)), domain="d")
eight = [node("G", ["a"], [f"t{i}"], domain="own") for i in range(7)] + [node("G", ["a"], ["b"], domain="own")]
big_work = [function("F", [node("H", ["a"], [f"t{i}"], domain="own") for i in range(63)] + [node("H", ["a"], ["b"], domain="own")]),
            function("H", eight), function("G", [big_node, node("Relu", ["a"], ["b"])])]
case(33, "work_without_end", calls(call_f, functions=big_work), LIMIT, "268435456 bytes", heavy=True)
case(33, "other_names_are_not_seen", calls(call_f, functions=[function("F", [node("Add", ["a", "x"], ["b"])])]),
     MALFORMED, "tensor 'x', which nothing makes")
reference = text(1, "alpha") + text(21, "slope") + integer(20, 1)
case(33, "reference_outside", model(small([node("Foo", ["x"], ["y"], reference, domain="d", name="n")])), MALFORMED,
     "'slope' outside of a function", "'n'")
loop = text(11, text(1, "slope") + text(21, "slope") + integer(20, 1))
case(33, "default_refers_to_itself", calls(call_f, functions=[function("F", [node("Foo", ["a"], ["b"], reference,
     domain="d")], extra=loop)]), MALFORMED, "is a reference")

soft = [function("Soft", [node("Softmax", ["a"], ["b"])], opset=11)]
case(33, "operator_changed_between_opsets", calls(node("Soft", ["x"], ["y"], domain="own"), functions=soft), UNSUPPORTED,
     "'Soft'", "opset 11", "13", "Softmax")

# ---- 34-59: the graph ----
case(34, "cycle_of_1", model(small([node("Add", ["x", "y"], ["y"], name="n")])), MALFORMED, "cycle: 'n' needs 'n'")
ring_3 = [node("Add", ["x", "c"], ["a"], name="p"), node("Relu", ["a"], ["b"], name="q"),
          node("Relu", ["b"], ["c"], name="r"), node("Relu", ["c"], ["y"])]
case(34, "cycle_of_3", model(small(ring_3)), MALFORMED, "cycle", "'p' needs", "'q' needs", "'r' needs")
case(35, "input_nobody_makes", model(small([node("Relu", ["z"], ["y"], name="n")])), MALFORMED, "'n' (Relu)", "'z'",
     "nothing makes")
case(36, "output_nobody_makes", model(small(outputs=[info("z")])), MALFORMED, "'z'", "nothing makes")
two = [node("Relu", ["x"], ["y"], name="one"), node("Relu", ["x"], ["y"], name="two")]
case(37, "made_twice", model(small(two)), MALFORMED, "'one' (Relu) makes it already", "'two'", "'y'")
case(37, "made_twice_by_one", model(small([node("Split", ["x"], ["y", "y"], name="n")])), MALFORMED, "'y'", "'n'")
case(38, "output_is_input", model(small([node("Relu", ["x"], ["x"], name="n")])), MALFORMED, "'x'", "a graph input")
w = tensor("w", [1], FLOAT, text(9, floats(1)))
case(38, "output_is_initializer", model(small([node("Relu", ["x"], ["w"], name="n")], initializers=[w])), MALFORMED,
     "'w'", "an initializer")
case(39, "initializer_twice", model(small(initializers=[w, w])), MALFORMED, "'w'", "an initializer already")
case(40, "input_twice", model(small(inputs=[info("x"), info("x")])), MALFORMED, "'x'", "a graph input already")
case(40, "output_twice", model(small(outputs=[info("y"), info("y")])), MALFORMED, "'y'", "output twice")
unsorted = [node("Relu", ["t"], ["y"]), node("Relu", ["x"], ["t"])]
case(41, "unsorted", model(small(unsorted)), OK, "sorted")
case(42, "no_op_type", model(small([node("", ["x"], ["y"], name="n")])), MALFORMED, "'n'", "no op_type")
case(43, "unknown_operator", model(small([node("Foo", ["x"], ["y"])])), OK)
case(44, "too_few_inputs", model(small([node("Add", ["x"], ["y"], name="n")])), MALFORMED, "'n' (Add)", "1 inputs")
case(44, "too_many_inputs", model(small([node("Relu", ["x", "x"], ["y"], name="n")])), MALFORMED, "'n'", "2 inputs")
case(44, "too_many_outputs", model(small([node("Relu", ["x"], ["y", "z"], name="n")])), MALFORMED, "'n'", "2 outputs")
case(45, "required_left_out", model(small([node("Add", ["", "x"], ["y"], name="n")])), MALFORMED, "'n'", "input 0")
case(46, "unused", model(small([node("Relu", ["x"], ["y"]), node("Relu", ["x"], ["z"])], initializers=[w])), OK)
case(47, "no_nodes", model(small([], outputs=[info("x")])), OK)
case(48, "output_is_constant", model(small(outputs=[info("w", [1])], initializers=[w])), OK)
case(50, "declared_twice", model(small(infos=[info("y", [4, 1])])), MALFORMED, "'y'", "1x4", "4x1")
case(50, "declared_types", model(small(infos=[info("y", elem=7)])), MALFORMED, "'y'", "s64", "f32")
case(50, "contradicts", model(small(outputs=[info("y", [2, 4])])), MALFORMED, "'relu'", "2x4", "1x4",
     arguments=["--infer"])
case(50, "initializer_contradicts", model(small(inputs=[info("x"), info("w", [3])], initializers=[w])), MALFORMED,
     "'w'", "3")
case(51, "no_names", model(small([node("Relu", ["x"], ["t"]), node("Relu", ["t"], ["y"])])), OK)
names = [node("Relu", ["x"], ["t"], name="n"), node("Relu", ["t"], ["y"], name="n")]
case(51, "names_twice", model(small(names)), OK)


def branch(nodes, output, **parts):
    return graph(nodes, outputs=[text(1, output)], **parts)


def when(then, otherwise, name="if", outputs=("y",)):
    return node("If", ["c"], outputs, attribute("then_branch", 5, text(6, then)),
                attribute("else_branch", 5, text(6, otherwise)), name=name)


def conditional(*nodes, **parts):
    return model(small(list(nodes), inputs=[info("x"), info("c", [], BOOL)], **parts))


relu_t, relu_e = branch([node("Relu", ["x"], ["t"])], "t"), branch([node("Relu", ["x"], ["e"])], "e")
case(52, "if", conditional(when(relu_t, relu_e)), OK)


def tower(depth):
    """`depth` nested Ifs; lengths are put before what is there already, so that this is quick."""
    body = branch([node("Identity", ["x"], ["t"])], "t")
    for i in range(depth):
        leaf = branch([node("Identity", ["x"], [f"e{i}"])], f"e{i}")
        inner = when(body, leaf, name="", outputs=[f"v{i}"])
        body = branch([inner], f"v{i}")
    return body


case(52, "ifs_33_deep", conditional(when(tower(32), relu_e)), LIMIT, "nested more than 32 deep")
case(52, "ifs_32_deep", conditional(when(tower(31), relu_e)), OK)
case(52, "ifs_2000_deep", conditional(when(tower(2000), relu_e)), LIMIT, "nested more than 32 deep", heavy=True)
pair = graph([node("Relu", ["x"], ["p"]), node("Relu", ["x"], ["q"])], outputs=[text(1, "p"), text(1, "q")])
case(53, "branches_differ", conditional(when(relu_t, pair)), MALFORMED, "'if' (If)", arguments=["--infer"])
late = branch([node("Relu", ["late"], ["t"])], "t")
case(54, "name_defined_later", conditional(when(late, relu_e), node("Relu", ["x"], ["late"])), OK, "sorted")
own = branch([node("Relu", ["y"], ["t"])], "t")
case(54, "body_needs_its_own_node", conditional(when(own, relu_e)), MALFORMED, "cycle", "'if' needs 'if'")
case(54, "body_input_nobody_makes", conditional(when(branch([node("Relu", ["z"], ["t"])], "t"), relu_e)), MALFORMED,
     "'z'", "'if'", "then_branch")
case(54, "body_output_from_outside", conditional(when(branch([], "x"), relu_e)), MALFORMED, "'x'", "Identity")
body_w = branch([node("Identity", ["w"], ["t"])], "t", inputs=[info("w", [1])], initializers=[w])
case(55, "body_input_is_initializer", conditional(when(body_w, relu_e)), MALFORMED, "'w'", "initializer")


def loop_of(body, *inputs):
    nodes = [node("Loop", ["m", "c", "x"], ["y"], attribute("body", 5, text(6, body)), name="loop")]
    return model(small(nodes, inputs=[info("x"), info("m", [], INT64), info("c", [], BOOL)]))


def loop_body(inputs, **parts):
    kinds = {"i": ([], INT64), "k": ([], BOOL), "v": ((1, 4), FLOAT)}
    nodes = [node("Identity", ["k"], ["go"]), node("Relu", ["v"], ["r"])]
    return graph(nodes, [info(i, *kinds[i]) for i in inputs], [info("go", [], BOOL), info("r")], **parts)


case(55, "loop", loop_of(loop_body("ikv")), OK, arguments=["--infer"])
case(55, "loop_input_is_initializer", loop_of(loop_body("ikv", initializers=[tensor("v", [1, 4], FLOAT,
     text(9, floats(1, 2, 3, 4)))])), MALFORMED, "'v'", "'loop'", "initializer")
case(56, "loop_input_missing", loop_of(graph([node("Identity", ["k"], ["go"])], [info("i", [], INT64), info("k", [], BOOL)],
     [info("go", [], BOOL)])), MALFORMED, "'loop' (Loop)", arguments=["--infer"])
stray = attribute("g", 5, text(6, relu_t))
case(58, "body_where_none_belongs", model(small([node("Relu", ["x"], ["y"], stray, name="n")])), MALFORMED, "'g'", "'n'")
case(58, "body_of_unknown", model(small([node("Foo", ["x"], ["y"], stray, name="n")])), UNSUPPORTED, "'g'", "'n'")
shadow = branch([node("Relu", ["x"], ["u"])], "u")
case(59, "body_shadows", conditional(node("Relu", ["x"], ["u"]), when(shadow, relu_e)), MALFORMED, "'u'", "unique")

# ---- 60-74: tensors ----
raw = text(9, floats(1, 2, 3, 4))
for name, data in [("short", raw[:-1]), ("long", text(9, floats(1, 2, 3, 4) + b"\0")), ("odd", text(9, b"\0" * 7))]:
    data = text(9, floats(1, 2, 3, 4)[:-1]) if name == "short" else data
    case(60, f"raw_{name}", with_tensor(tensor("w", [4], FLOAT, data)), MALFORMED, "tensor 'w'", "want 16", "raw_data")
case(61, "no_data", with_tensor(tensor("w", [3, 3], FLOAT)), MALFORMED, "tensor 'w'", "3x3", "0 numbers", "9")
case(62, "raw_and_floats", with_tensor(tensor("w", [4], FLOAT, raw, text(4, floats(1, 2, 3, 4)))), MALFORMED, "'w'",
     "both raw_data and float_data")
case(63, "floats_missing", with_tensor(tensor("w", [4], FLOAT, text(4, floats(1, 2)))), MALFORMED, "'w'", "2 numbers",
     "want 4")
case(64, "floats_as_ints", with_tensor(tensor("w", [1], FLOAT, text(5, varint(1)))), MALFORMED, "'w'", "int32_data",
     "float_data")
case(64, "strings_raw", with_tensor(tensor("w", [1], STRING, text(9, b"a"))), MALFORMED, "'w'", "string_data")
for name, dims in [("2_124", [1 << 31, 1 << 31, 1 << 31, 1 << 31]), ("wraps_to_0", [1 << 32, 1 << 32]),
                   ("2_63", [(1 << 63) - 1, 2])]:
    case(65, f"dims_{name}", with_tensor(tensor("w", dims, FLOAT, raw)), MALFORMED, "'w'", "16 bytes", "2^40")
case(65, "dims_past_int32_empty", with_tensor(tensor("w", [1 << 40, 0], FLOAT)), LIMIT, "'w'", "2147483647")
case(65, "rank_65", with_tensor(tensor("w", [1] * 65, FLOAT, text(9, floats(1)))), LIMIT, "64 dimensions")
case(65, "rank_9", with_tensor(tensor("w", [1] * 9, FLOAT, text(9, floats(1)))), UNSUPPORTED, "'w'", "9 dimensions")
case(66, "negative_dim", with_tensor(tensor("w", [-1, 4], FLOAT, raw)), MALFORMED, "'w'", "-1x4", "negative")
case(66, "negative_declared", model(small(outputs=[info("y", [-7, 4])])), MALFORMED, "'y'", "-7")
case(66, "unknown_as_minus_1", model(small(outputs=[info("y", [-1, 4])])), OK)
case(66, "huge_declared", model(small(outputs=[info("y", [1 << 31, 4])])), LIMIT, "'y'", "2147483648")
case(67, "zero_dim", model(small(initializers=[tensor("w", [0, 3], FLOAT)])), OK)
case(67, "zero_dim_with_data", with_tensor(tensor("w", [0, 3], FLOAT, raw)), MALFORMED, "'w'", "0x3")
for number, status in [(0, MALFORMED), (99, MALFORMED), (-1, MALFORMED), (14, UNSUPPORTED), (17, UNSUPPORTED)]:
    case(68, f"data_type_{number}", with_tensor(tensor("w", [4], number, raw)), status, "'w'", f"data_type {number}")
case(68, "elem_type_99", model(small(outputs=[info("y", elem=99)])), MALFORMED, "'y'", "elem_type 99")
for name, data_type, number in [("int8", INT8, 300), ("bool", BOOL, 2), ("fp16", FLOAT16, 70000), ("int4", INT4, 256)]:
    case(69, f"{name}_{number}", model(small(initializers=[tensor("w", [1], data_type, text(5, varint(number)))])),
         MALFORMED, "'w'", str(number))
case(70, "int4_odd", model(small(initializers=[tensor("w", [3], INT4, text(9, b"\x21\x0f"))]), opset=21), OK)
case(70, "int4_unpacked", model(small(initializers=[tensor("w", [4], INT4, text(9, b"\1\2\3\4"))]), opset=21),
     MALFORMED, "'w'", "4 bytes", "want 2")


def sparse(indices, dims=(4,), index_dims=None, count=2):
    values = tensor("w", [count], FLOAT, text(9, floats(*range(1, count + 1))))
    places = tensor("", index_dims or [len(indices)], INT64, text(7, b"".join(varint(i & (1 << 64) - 1) for i in indices)))
    return text(1, values) + text(2, places) + b"".join(integer(3, d) for d in dims)


def with_sparse(data):
    return model(small([node("Add", ["x", "w"], ["y"], name="add")], extra=text(15, data)))


case(71, "sparse", with_sparse(sparse([1, 3])), OK)
case(71, "sparse_coordinates", with_sparse(sparse([0, 1, 0, 3], (1, 4), [2, 2])), OK)
case(71, "sparse_outside", with_sparse(sparse([1, 4])), MALFORMED, "'w'", "outside")
case(71, "sparse_negative", with_sparse(sparse([-1, 3])), MALFORMED, "'w'", "outside")
case(71, "sparse_unsorted", with_sparse(sparse([3, 1])), MALFORMED, "'w'", "not in order")
case(71, "sparse_rank", with_sparse(sparse([0, 1, 3, 1, 2, 1], (1, 4), [2, 3])), MALFORMED, "'w'", "2x3")
case(71, "sparse_count", with_sparse(sparse([1, 2, 3])), MALFORMED, "'w'", "2 values")
strings = text(1, tensor("w", [2], STRING, text(6, "a"), text(6, "b"))) + text(2, tensor("", [2], INT64, text(7, b"\1\3")))
case(71, "sparse_strings", with_sparse(strings + integer(3, 4)), UNSUPPORTED, "'w'", "strings")
square = text(1, tensor("w", [1, 2], FLOAT, text(9, floats(1, 2)))) + text(2, tensor("", [2], INT64, text(7, b"\1\3")))
case(71, "sparse_values_of_rank_2", with_sparse(square + integer(3, 4)), MALFORMED, "'w'", "rank 2")
narrow = text(1, tensor("w", [2], FLOAT, text(9, floats(1, 2)))) + text(2, tensor("", [2], INT32, text(5, b"\1\3")))
case(71, "sparse_indices_s32", with_sparse(narrow + integer(3, 4)), MALFORMED, "'w'", "s32, want s64")
case(71, "sparse_negative_dims", with_sparse(sparse([1, 3], (-4,))), MALFORMED, "'w'", "-4")
case(71, "sparse_half", with_sparse(text(1, tensor("w", [1], FLOAT, text(9, floats(1))))), MALFORMED, "indices")
case(71, "sparse_thin", with_sparse(sparse([1, 3], (3, 512, 1024, 8))), LIMIT, "'w'", "when it is made dense")
case(71, "sparse_bomb", with_sparse(sparse([1, 3], (1 << 30, 1024))), LIMIT, "'w'", "dense")
case(72, "segment", with_tensor(tensor("w", [4], FLOAT, raw, text(3, integer(1, 0) + integer(2, 2)))), MALFORMED, "'w'",
     "segment")
case(73, "scalar", with_tensor(tensor("w", [], FLOAT, text(9, floats(1)))), OK)
case(74, "bool_of_2", model(small(initializers=[tensor("w", [2], BOOL, text(9, b"\2\0"))])), OK, "'w'", "truth")


# ---- 75-90: external data ----
def external(location, entries=(), setup=None, folder="model", status=MALFORMED, words=(), dims=(4,), **options):
    """A model in a folder of its own whose w lies in a file; the folder above holds secret.bin."""
    def make(directory):
        place = directory / folder
        place.mkdir()
        (directory / "secret.bin").write_bytes(floats(1, 2, 3, 4))
        (place / "w.bin").write_bytes(floats(*range(16)))
        if setup:
            setup(place)
        pairs = ([("location", location)] if location is not None else []) + list(entries)
        data = tensor("w", dims, FLOAT, *[text(13, text(1, k) + text(2, v)) for k, v in pairs], integer(14, 1))
        path = place / "m.onnx"
        path.write_bytes(with_tensor(data))
        return path
    return make, status, ("'w'", *words) if status else words, options


def external_case(family, name, *arguments, **options):
    make, status, words, rest = external(*arguments, **options)
    case(family, name, make, status, *words, **rest)


external_case(83, "takes_dims", "w.bin", status=OK)
external_case(83, "all_entries", "w.bin", [("offset", "16"), ("length", "16")], status=OK)
for name, location in [("parent", "../secret.bin"), ("parent_inside", "a/../../secret.bin"), ("hash", "#../secret.bin/..")]:
    external_case(75, name, location, words=[location])
for name, location in [("absolute", "/etc/passwd"), ("drive", "C:\\w.bin"), ("share", "//host/w.bin")]:
    external_case(76, name, location, words=["external data"])
external_case(77, "symlink", "link.bin", setup=lambda d: (d / "link.bin").symlink_to("w.bin"), words=["symbolic link"])
external_case(77, "symlink_parent", "up/secret.bin", setup=lambda d: (d / "up").symlink_to(".."),
              words=["symbolic link"])
external_case(77, "symlink_root", "root/etc/passwd", setup=lambda d: (d / "root").symlink_to("/"),
              words=["symbolic link"])
external_case(78, "hardlink", "w.bin", setup=lambda d: os.link(d / "w.bin", d / "other.bin"),
              words=["hard links", "--allow-hardlink"])
external_case(78, "hardlink_allowed", "w.bin", setup=lambda d: os.link(d / "w.bin", d / "other.bin"), status=OK,
              arguments=["--allow-hardlink"])
external_case(79, "missing", "nothing.bin", status=IO, words=["nothing.bin"])
external_case(79, "directory", "d", setup=lambda d: (d / "d").mkdir(), status=IO, words=["a directory"])
external_case(79, "fifo", "pipe", setup=lambda d: os.mkfifo(d / "pipe"), status=IO, words=["a pipe"])
for offset in ("-4", "abc", "1e3", " 5", "", str((1 << 64) + 5)):
    external_case(80, f"offset_{offset.strip() or 'empty'}", "w.bin", [("offset", offset)], words=["offset"])
external_case(80, "offset_2_64_16", "w.bin", [("offset", str((1 << 64) - 16))], words=["64 bytes"])
external_case(81, "past_end", "w.bin", [("offset", "56")], words=["64 bytes", "56"])
external_case(82, "length_differs", "w.bin", [("length", "12")], words=["length 12", "want 16"])
external_case(84, "empty_location", "", words=["is empty"])
external_case(84, "no_location", None, words=["without a location"])
external_case(84, "nul", b"w.bin\0.txt", words=["NUL"])
external_case(84, "long", "a/" * 2500 + "w.bin", words=["4096"])
external_case(84, "trailing_slash", "w.bin/", words=["'/'"])
external_case(85, "unknown_key", "w.bin", [("frobnicate", "1")], status=OK, words=["'frobnicate'", "ignored"])
external_case(85, "key_twice", "w.bin", [("location", "w.bin")], words=["'location' stands twice"])
external_case(90, "checksum_wrong", "w.bin", [("checksum", "0" * 40)], words=["checksum"])
external_case(65, "external_dims_huge", "w.bin", dims=(1 << 31, 1 << 31), words=["2^40"])


def sharing(directory):
    (directory / "w.bin").write_bytes(floats(*range(8)))
    def lies(name, offset):
        pairs = [("location", "w.bin"), ("offset", str(offset))]
        return tensor(name, [4], FLOAT, *[text(13, text(1, k) + text(2, v)) for k, v in pairs], integer(14, 1))
    path = directory / "m.onnx"
    nodes = [node("Add", ["x", "w"], ["t"]), node("Add", ["t", "v"], ["y"])]
    path.write_bytes(model(small(nodes, initializers=[lies("w", 0), lies("v", 8)])))
    return path


case(86, "overlap", sharing, OK)

# ---- 108: attributes ----
perm = attribute("perm", 7, integer(8, 1), integer(8, 0))


def transpose(*attributes):
    return model(small([node("Transpose", ["x"], ["y"], *attributes, name="n")], outputs=[info("y", [4, 1])]))


case(108, "plain", transpose(perm), OK)
case(108, "wrong_type", transpose(attribute("perm", 2, integer(3, 1))), MALFORMED, "'perm'", "type INT, want INTS", "'n'")
case(108, "other_field", transpose(attribute("perm", 7, integer(3, 1))), MALFORMED, "'perm'", "INTS", "INT")
case(108, "twice", transpose(perm, perm), MALFORMED, "'perm'", "given twice", "'n' (Transpose)")
case(108, "unknown", transpose(attribute("prem", 7)), MALFORMED, "'prem'", "is it 'perm'")
case(108, "type_99", transpose(attribute("perm", 99)), MALFORMED, "'perm'", "type 99")
case(108, "no_name", transpose(integer(3, 1) + integer(20, 2)), MALFORMED, "'n'", "without a name")
case(108, "no_type", transpose(text(1, "perm") + text(8, b"\1\0")), OK)
case(108, "257", transpose(*[attribute(f"a{i}", 2) for i in range(257)]), LIMIT, "257 attributes", "'n'")
case(108, "missing", model(small([node("Concat", ["x"], ["y"], name="n")])), MALFORMED, "'axis'", "missing", "'n'")
case(108, "attribute_is_input", model(small([node("Squeeze", ["x"], ["y"], attribute("axes", 7, integer(8, 0)),
     name="n")]), opset=13), MALFORMED, "'axes'", "input 1 since opset 13", "'n'")
case(108, "input_is_attribute", model(small([node("Squeeze", ["x", "a"], ["y"], name="n")], outputs=[text(1, "y")],
     initializers=[tensor("a", [1], INT64, text(7, varint(0)))]), opset=11), MALFORMED, "'axes'", "opset 13", "'n'")
case(108, "attribute_in_old_opset", model(small([node("Squeeze", ["x"], ["y"], attribute("axes", 7, integer(8, 0)))],
     outputs=[text(1, "y")]), opset=11), OK)


case(108, "unknown_word", model(small([node("Conv", ["x", "x"], ["y"], attribute("auto_pad", 3, text(4, "SAME")),
     name="n")])), MALFORMED, "'auto_pad'", "'SAME'", "NOTSET", "SAME_UPPER", "'n'")
case(108, "word_that_is_no_text", model(small([node("Conv", ["x", "x"], ["y"], attribute("auto_pad", 3, text(4, b"\xff")))])),
     MALFORMED, "'auto_pad'", "UTF-8")
case(108, "word_of_70000_bytes", model(small([node("Conv", ["x", "x"], ["y"], attribute("auto_pad", 3, text(4, "a" * 70000)))])),
     LIMIT, "'auto_pad'", "70000 bytes")
case(108, "old_attribute_of_wrong_type", model(small([node("Squeeze", ["x"], ["y"], attribute("axes", 2, integer(3, 0)))]),
     opset=11), MALFORMED, "'axes'", "type INT, want INTS")
case(108, "old_attribute_twice", model(small([node("Squeeze", ["x"], ["y"], attribute("axes", 7, integer(8, 0)),
     attribute("axes", 7, integer(8, 0)))]), opset=11), MALFORMED, "'axes'", "given twice")
case(108, "sparse_attribute", model(small([node("Constant", [], ["y"], attribute("sparse_value", 11, text(22, sparse([1, 3]))))])),
     UNSUPPORTED, "'sparse_value'", "SPARSE_TENSOR")
kept_outside = tensor("", [4], FLOAT, text(13, text(1, "location") + text(2, "w.bin")), integer(14, 1))
case(108, "external_data_of_unknown", model(small([node("Foo", ["x"], ["y"], attribute("t", 4, text(5, kept_outside)))])),
     UNSUPPORTED, "'t'", "external data")


def main():
    directory = pathlib.Path(sys.argv[1])
    for one in CASES:
        folder = directory / one.id
        folder.mkdir(parents=True)
        one.write(folder)


if __name__ == "__main__":
    main()
