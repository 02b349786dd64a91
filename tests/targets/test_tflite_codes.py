"""The rows of target tflite against what tflite-micro and LiteRT's reference kernels answered: the golden vectors' models of ops
that have rows, said again in ONNX."""
import codes
import numpy as np
import pytest
from tflite_models import File, Saying

VECTORS = codes.SHARED / "vectors" / "tflite"
RUNTIMES = {"out_micro": "micro", "out_ref": "ref"}
NUMBERS = {"models": 0, "codes": 0}


def models():
    """(name, file) of those whose ops all have rows."""
    known = []
    for path in sorted(VECTORS.glob("*.tflite")):
        if not path.stem.startswith(("i16_", "dynrange_")) and not path.stem.endswith("_f32"):
            file = File(path)
            if file.is_known():
                known.append((path.stem, file))
    return known


MODELS = models()
pytestmark = pytest.mark.skipif(not MODELS, reason=f"{VECTORS} is not there: the rows of tflite are not checked (TARE_SHARED)")


@pytest.mark.parametrize("name, file", MODELS, ids=[name for name, _ in MODELS])
def test_codes_are_equal(name, file, tmp_path):
    saying = Saying(file)
    model = saying.say()
    with np.load(VECTORS / f"{name}.npz") as golden:
        golden = {key: golden[key] for key in golden.files}
    feeds = {f"t{index}": saying.turn(golden[f"in_{i}"]) for i, index in enumerate(file.inputs)}
    for key, profile in RUNTIMES.items():
        if key not in golden:
            continue
        ours, lines = codes.run_driver(model, feeds, tmp_path, "--target", "tflite", "--profile", profile)
        codes.assert_on_codes(lines, len(file.operators))
        want = saying.turn(golden[key])
        different = int((ours[f"t{file.outputs[0]}"] != want).sum())
        assert different == 0, f"{profile}: {different} of {want.size} codes differ"
        NUMBERS["codes"] += want.size
    NUMBERS["models"] += 1


def test_flat_softmax_is_defined(tmp_path):
    """Both runtimes stop the process on 600 nearly equal logits; here every code is the lowest."""
    file = dict(MODELS)["softmax_flat_00"]
    with np.load(VECTORS / "softmax_flat_00.npz") as golden:
        feeds = {f"t{file.inputs[0]}": golden["in_0"]}
    ours, lines = codes.run_driver(Saying(file).say(), feeds, tmp_path, "--target", "tflite")
    codes.assert_on_codes(lines)
    assert (ours[f"t{file.outputs[0]}"] == -128).all()


def test_enough_was_compared():
    print(f"{NUMBERS['codes']} codes of {NUMBERS['models']} models, none differs")
    assert NUMBERS["models"] >= 55
