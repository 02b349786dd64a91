"""Every shared model runs in float, and every value is as near to f64 as it must be: within 1e-5 of the tensor's largest
magnitude, or twice ONNX Runtime's own distance. The same bytes come out for any threads and instruction set."""
import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
import reference

DRIVER = pathlib.Path(os.environ.get("TARE_DRIVERS") or reference.ROOT / "build" / "tests") / "driver_run"
MODELS = reference.SHARED / "models"

# (file, value): why it may be further off. At most five in all.
TIE = "a Quant behind a computed value that lies on a tie of two codes: f32 and f64 fall on different sides"
EXCEPTIONS = {
    ("model_qonnx_quant.onnx", "96"): TIE,
    ("model_subpixel_qonnx_quant.onnx", "79"): TIE,
}


def model_files():
    return sorted(path for path in MODELS.glob("*/*.onnx") if path.parent.name != "malformed")


def model_name(path):
    """The shared model whose samples feed this file."""
    if path.parent.name != "quantized_forms":
        return path.parent.name
    return next(name for name in ("ic_resnet8", "kws_dscnn") if path.name.startswith(name))


def run_driver(path, feeds, directory, *options):
    source, target = directory / "in.npz", directory / "out.npz"
    np.savez(source, **feeds)
    done = subprocess.run([DRIVER, path, source, target, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def distances(values, wide, runtime):
    """(name, largest distance from f64, what is allowed) of each value that both have."""
    for name in values.files:
        ours = values[name]
        if ours.dtype != np.float32 or name not in wide or not ours.size:
            continue
        theirs = wide[name]
        assert theirs.shape == ours.shape, f"{name}: {ours.shape}, the reference has {theirs.shape}"
        largest = np.abs(theirs).max()
        allowed = 1e-5 * largest
        if runtime is not None and name in runtime:
            allowed = max(allowed, 2 * np.abs(runtime[name] - theirs).max())
        yield name, np.abs(ours - theirs).max(), allowed


# A mark, not a skip of the module: pytest fails where it finds no test at all.
pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason=f"{MODELS} is not there: no model is run (TARE_SHARED)")


@pytest.mark.parametrize("path", model_files(), ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.parametrize("index", [0, 1])
def test_every_value_is_near(path, index, tmp_path):
    feeds = reference.fit_feeds(onnx.load(path), reference.feeds_of(model_name(path), index=index))
    wide, runtime = reference.both(path, feeds)
    with np.load(run_driver(path, feeds, tmp_path)) as values:
        found = list(distances(values, wide, runtime))
    assert len(found) >= len(values.files) * 0.8, "too few values have a partner in the reference"
    far = [(name, far, allowed) for name, far, allowed in found
           if not far <= allowed and (path.name, name) not in EXCEPTIONS]
    assert not far, "\n".join(f"{name}: {d:.3g} from f64, {allowed:.3g} allowed" for name, d, allowed in far)


@pytest.mark.parametrize("name", ["ic_resnet8", "osnet_x0_25", "silero_vad_lstm", "magika_v3", "ultraface_rfb320"])
@pytest.mark.parametrize("backend", ["float", "qdq"])
def test_same_bytes(name, backend, tmp_path):
    path = MODELS / name / "model.onnx"
    if backend == "qdq":
        path = MODELS / "quantized_forms" / "ic_resnet8_ort_qdq_u8s8_pt.onnx"
        if name != "ic_resnet8":
            pytest.skip("only ic_resnet8 has a quantized form")
    feeds = reference.feeds_of(name)
    wanted = run_driver(path, feeds, tmp_path, "--backend", backend).read_bytes()
    for options in (["--threads", "2"], ["--threads", "7"], ["--cpu", "scalar"], ["--cpu", "avx2"]):
        try:
            got = run_driver(path, feeds, tmp_path, "--backend", backend, *options).read_bytes()
        except AssertionError:
            if options[0] == "--cpu" and options[1] != "scalar":
                continue  # not on this machine
            raise
        assert got == wanted, options
