"""Family 112 through the program: samples that lie. The readers' own tests are in tests/samples; here is what a user sees
of them, and that nothing is written."""
import io
import struct

import numpy as np
import onnx
import pytest
from onnx import helper
from PIL import Image
from program import IS_SANITIZED, check_error

SHAPE = [1, 3, 4, 4]
BODY = np.arange(48, dtype="<f4").tobytes()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], name="n")], "g",
                              [helper.make_tensor_value_info("x", 1, SHAPE)], [helper.make_tensor_value_info("y", 1, None)],
                              [onnx.numpy_helper.from_array(np.ones((2, 3, 1, 1), np.float32), "w")])
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def npy(descr="<f4", order="False", shape="(1, 3, 4, 4)", body=BODY, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header + body


def png(change=None, keep=None):
    out = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(out, "PNG")
    data = bytearray(out.getvalue())
    if change:
        data[change] ^= 0xFF
    return bytes(data[:keep])


SOUND = {"plain.npy": npy(), "big_endian.npy": npy(">f4", body=np.arange(48, dtype=">f4").tobytes()),
         "fortran.npy": npy(order="True"), "picture.png": png()}
LIES = [
    ("short.npy", npy(body=BODY[:-1]), 3, ["input 'x'", "192 bytes", "191"]),
    ("shape.npy", npy(shape="(1, 3, 4, 5)"), 3, ["input 'x'", "240 bytes", "192"]),
    ("other_shape.npy", npy(shape="(1, 2, 4, 6)"), 2, ["input 'x'", "1x3x4x4", "1x2x4x6"]),
    ("huge.npy", npy(shape="(4294967296, 4294967296)"), 6, ["input 'x'", "4294967296"]),
    ("wraps.npy", npy(shape="(65536, 65536, 65536, 65536)"), 6, ["input 'x'"]),
    ("negative.npy", npy(shape="(-1, 3, 4, 4)"), 3, ["input 'x'", "shape"]),
    ("objects.npy", npy("|O"), 4, ["input 'x'", "objects"]),
    ("version_9.npy", npy(version=9), 4, ["input 'x'", "9.0"]),
    ("no_header.npy", b"\x93NUMPY\1\0\xff\xff{", 3, ["byte 11", "65545"]),
    ("no_samples.npy", npy(shape="(0, 3, 4, 4)", body=b""), 2, ["no samples"]),
    ("crc.png", png(change=-20), 3, ["IDAT"]),
    ("cut.png", png(keep=40), 3, ["byte 33"]),
    ("text.png", b"hello", 3, ["PNG or JPEG"]),
    ("empty.npz", b"", 3, ["empty.npz"]),
    ("cut.npz", b"PK\3\4" + bytes(60), 3, ["cut.npz"]),
    ("list.txt", b"plain.npy\nmissing.npy\n", 5, ["line 2", "missing.npy"]),
    ("no_names.txt", b"\n", 2, ["no files"]),
]
VERBS = {"run": [], "quantize": [], "check": None}


def run(tare, verb, model, data, out, *options):
    output = [] if verb == "check" else ["-o", out / ("out.onnx" if verb == "quantize" else "out.npz")]
    return tare(verb, model, "--data", data, *output, *options, memory=512 << 20)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name, data, status, words", LIES, ids=[lie[0] for lie in LIES])
def test_lies(name, data, status, words, verb, tare, model, tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir(), out.mkdir()
    (source / "plain.npy").write_bytes(npy())
    (source / name).write_bytes(data)
    check_error(run(tare, verb, model, source / name, out), status, f"error: {source / name}: ", *words)
    assert not list(out.iterdir())


@pytest.mark.parametrize("name", SOUND)
def test_sound(name, tare, model, tmp_path):
    (tmp_path / name).write_bytes(SOUND[name])
    assert run(tare, "run", model, tmp_path / name, tmp_path).status == 0


def test_sources(tare, model, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain.npy").write_bytes(npy())
    (tmp_path / "long.npy").write_bytes(npy(body=BODY + b"x"))
    (tmp_path / "F.bin").write_bytes(b"1234")
    out = tmp_path / "out"
    out.mkdir()
    check_error(run(tare, "run", model, tmp_path / "empty", out), 2, "no samples")
    check_error(run(tare, "run", model, tmp_path / "nowhere.npy", out), 5, "nowhere.npy")
    check_error(run(tare, "run", model, f"{tmp_path}/F.bin:f32:1x3x4x4", out), 2, "4 bytes", "192")
    check_error(run(tare, "run", model, tmp_path / "plain.npy", out, "--samples", "0"), 2, "none of the 1")
    assert not list(out.iterdir())
    few = run(tare, "run", model, tmp_path / "plain.npy", out, "--samples", "5")
    assert few.status == 0 and "warning: " in few.log and "only 1" in few.log
    long = run(tare, "run", model, tmp_path / "long.npy", out)
    assert long.status == 0 and "1 bytes after the array" in long.log


def test_a_source_of_many_colons(tare, model, tmp_path):
    """Each may part a file from a suffix."""
    ran = tare("run", model, "--data", tmp_path / ("none" + ":" * 100000), "-o", tmp_path / "out.npz")
    check_error(ran, 5)
    assert IS_SANITIZED or ran.seconds < 1


RECIPES = {
    "open_list": ("samples: [1\n", ["1:10"]), "alias": ("&a [*a]\n", ["alias"]), "nul": ("\0", ["control"]),
    "unknown_key": ("quantization: {defaults: {methd: mse}}\n", ["1:27", "'methd'", "'method'"]),
    "twice": ("target: onnx\ntarget: onnx\n", ["2:1", "target", "twice"]),
    "long_key": ("a" * 70000 + ": 1\n", []), "deep": ("- " * 4000 + "\n", ["deep"]),
}


@pytest.mark.parametrize("text, words", RECIPES.values(), ids=RECIPES)
def test_recipes(text, words, tare, model, tmp_path):
    recipe = tmp_path / "R.yaml"
    recipe.write_text(text)
    ran = tare("quantize", model, "--recipe", recipe, "--data", "random:1", "-o", tmp_path / "out.onnx", memory=256 << 20)
    assert ran.status in (2, 3, 6)
    check_error(ran, ran.status, f"error: {recipe}:", *words)
    assert not (tmp_path / "out.onnx").exists()
