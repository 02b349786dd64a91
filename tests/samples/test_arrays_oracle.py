"""Arrays: whatever numpy writes is read as numpy reads it; how arrays are cut into samples; types; what is refused."""
import zipfile

import numpy
import pytest

from conftest import IO, LIMIT, MALFORMED, OK, UNSUPPORTED, USAGE

random = numpy.random.default_rng(1)
NAMES = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "s8", "i2": "s16", "i4": "s32", "i8": "s64",
         "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "b1": "bool"}


def numbers(letter, shape):
    if letter == "b1":
        return random.integers(0, 2, shape).astype(bool)
    if letter[0] == "f":
        return random.normal(0, 100, shape).astype(letter)
    info = numpy.iinfo(letter)
    return random.integers(info.min, info.max, shape, dtype=letter, endpoint=True)


@pytest.mark.parametrize("letter", NAMES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("fortran", [False, True])
def test_every_type_order_and_byte_order(read, tmp_path, letter, order, fortran):
    array = numbers(letter, (5, 3, 4, 7))
    stored = (numpy.asfortranarray if fortran else numpy.ascontiguousarray)(array.astype(order + letter))
    numpy.save(tmp_path / "a.npy", stored)
    ran = read(f"x:{NAMES[letter]}:1x3x4x7", tmp_path / "a.npy")
    assert ran.status == OK, ran.log
    assert list(ran.dump) == [f"{i:06}" for i in range(5)]
    assert ran.all.dtype == array.dtype and ran.all.tobytes() == array[:, None].tobytes()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version(read, tmp_path, version):
    array = numbers("f4", (1, 3))
    with open(tmp_path / "a.npy", "wb") as file:
        numpy.lib.format.write_array(file, array, version=version)
    assert (read("x:f32:1x3", tmp_path / "a.npy").only == array).all()


# The rule of samples.h: array, input, samples that come out (None: refused), as numpy would cut it.
CUTS = [
    ((3, 2, 2), "1x3x2x2", lambda a: [a[None]]),
    ((3, 2, 2), "?x3x2x2", lambda a: [a[None]]),
    ((3, 2, 2), "2x3x2x2", None),
    ((1, 3, 2, 2), "1x3x2x2", lambda a: [a]),
    ((4, 3, 2, 2), "1x3x2x2", lambda a: [a[i:i + 1] for i in range(4)]),
    ((4, 3, 2, 2), "?x3x2x2", lambda a: [a[i:i + 1] for i in range(4)]),
    ((4, 3, 2, 2), "2x3x2x2", lambda a: [a[:2], a[2:]]),
    ((4, 3, 2, 2), "4x3x2x2", lambda a: [a]),
    ((4, 3, 2, 2), "3x3x2x2", None),
    ((4, 3, 5, 2), "?x3x?x?", lambda a: [a[i:i + 1] for i in range(4)]),
    ((4, 1, 3, 2, 2), "1x3x2x2", lambda a: list(a)),
    ((4, 2, 3, 2, 2), "?x3x2x2", lambda a: list(a)),
    ((4, 2, 3, 2, 2), "1x3x2x2", None),
    ((6,), "1", lambda a: [a[i:i + 1] for i in range(6)]),
    ((6,), "?", lambda a: [a[i:i + 1] for i in range(6)]),
    ((6,), "6", lambda a: [a]),
    ((6,), "1x6", lambda a: [a[None]]),
    ((1, 48), "1x3x4x4", None),
    ((4, 4, 3), "1x3x4x4", None),
]


@pytest.mark.parametrize("shape, wanted, cut", CUTS)
@pytest.mark.parametrize("form", ["npy", "npz", "deflated", "fortran", "raw"])
def test_cuts(read, tmp_path, shape, wanted, cut, form):
    array = numbers("f4", shape)
    source = tmp_path / f"a.{form[:3]}"
    if form == "npy":
        numpy.save(source, array)
    elif form == "npz":
        numpy.savez(source := tmp_path / "a.npz", x=array)
    elif form == "raw":
        source.write_bytes(array.tobytes())
        source = f"{source}:f32:{'x'.join(map(str, shape))}"
    else:
        numpy.savez_compressed(source := tmp_path / "a.npz",
                               x=array if form == "deflated" else numpy.asfortranarray(array))
    ran = read(f"x:f32:{wanted}", source)
    if cut is None:
        assert ran.status == USAGE and "it wants" in ran.log
        return
    assert ran.status == OK, ran.log
    samples = cut(array)
    assert len(ran.dump) == len(samples)
    for got, want in zip(ran.dump.values(), samples):
        assert got["x"].shape == want.shape and got["x"].tobytes() == want.tobytes()


def test_whole(read, tmp_path):
    array = numbers("f4", (10, 576))
    numpy.save(tmp_path / "a.npy", array)
    assert len(read("x:f32:?x576", tmp_path / "a.npy").dump) == 10
    assert (read("x:f32:?x576", tmp_path / "a.npy", "--whole").only == array).all()


def test_raw_repeats_and_directory(read, tmp_path):
    array = numbers("f4", (3, 4, 6))
    (tmp_path / "a.bin").write_bytes(array.tobytes())
    ran = read("x:f32:?x6", f"{tmp_path}/a.bin:f32:4x6")
    assert ran.all.tobytes() == array.reshape(12, 1, 6).tobytes()
    assert read("x:f32:?x6", f"{tmp_path}/a.bin:f32:4x6", "--whole").all.tobytes() == array.tobytes()
    folder = tmp_path / "d"
    folder.mkdir()
    for i, part in enumerate(array):
        (folder / f"s{i}.bin").write_bytes(part.tobytes())
    (folder / "notes.md").write_text("not data")
    ran = read("x:f32:4x6", f"{folder}:f32:4x6")
    assert list(ran.dump) == ["s0", "s1", "s2"] and ran.all.tobytes() == array.tobytes()


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_directory_of_archives(read, tmp_path, save):
    """As score.py writes them: one sample a file, keys are input names, which may hold ':' and '/'."""
    names = ["serving_default_input_2:0", "a/b", "h"]
    feeds = [{names[0]: numbers("f4", (i + 1, 5, 1)), names[1]: numbers("i8", (1, 4)), names[2]: numbers("f4", (1, 1, 2))}
             for i in range(3)]
    for i, feed in enumerate(feeds):
        save(tmp_path / f"{i:04}.npz", **feed)
    (tmp_path / "list.txt").write_text("0000.npz\n0001.npz\n0002.npz\n")
    inputs = [f"{names[0]}:f32:?x5x1", f"{names[1]}:s64:1x4", f"{names[2]}:f32:1x1x2"]
    for source in (tmp_path, tmp_path / "list.txt"):
        ran = read(inputs, source)
        assert ran.status == OK, ran.log
        assert list(ran.dump) == ["0000", "0001", "0002"]
        for got, feed in zip(ran.dump.values(), feeds):
            assert set(got) == set(feed)
            for name, want in feed.items():
                assert got[name].dtype == want.dtype and got[name].tobytes() == want.tobytes()


def test_one_archive_of_several_inputs(read, tmp_path):
    x, h = numbers("f4", (10, 576)), numbers("f4", (1, 1, 8))
    numpy.savez(tmp_path / "a.npz", x=x, h=h)
    ran = read(["x:f32:?x576", "h:f32:1x1x8"], tmp_path / "a.npz")
    assert (ran.dump["a"]["x"] == x).all() and (ran.dump["a"]["h"] == h).all()
    h = numbers("f4", (10, 1, 8))
    numpy.savez(tmp_path / "b.npz", x=x, h=h)
    ran = read(["x:f32:?x576", "h:f32:1x1x8"], tmp_path / "b.npz")
    assert len(ran.dump) == 10 and (ran.dump["000007"]["h"] == h[7:8]).all() and (ran.dump["000007"]["x"] == x[7:8]).all()


def test_sources_are_joined(read, tmp_path, refuse):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    for i in range(4):
        numpy.save(one / f"s{i}.npy", numpy.full((1, 2), i, "f4"))
        numpy.save(two / f"s{i}.npy", numpy.full((1, 3), i, "f4"))
    ran = read(["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"b={two}"])
    assert all((s["a"][0, 0], s["b"][0, 0]) == (i, i) for i, s in enumerate(ran.dump.values()))
    (two / "s2.npy").rename(two / "t2.npy")
    refuse(USAGE, ["no sample 's2'"], ["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"b={two}"])
    numpy.save(tmp_path / "b.npy", numpy.arange(12, dtype="f4").reshape(4, 3))
    ran = read(["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"b={tmp_path}/b.npy"])
    assert list(ran.dump) == ["s0", "s1", "s2", "s3"] and ran.dump["s3"]["b"].tolist() == [[9, 10, 11]]
    ran = read(["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"b={one.parent}/two/s0.npy"])
    assert len(ran.dump) == 4 and all((s["b"] == 0).all() for s in ran.dump.values()) and "goes with each" in ran.log
    numpy.save(tmp_path / "b.npy", numpy.arange(15, dtype="f4").reshape(5, 3))
    refuse(USAGE, ["has 4 samples", "has 5"], ["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"b={tmp_path}/b.npy"])
    refuse(USAGE, "input 'b' has no source", ["a:f32:1x2", "b:f32:1x3"], [f"a={one}"])
    refuse(USAGE, "pass NAME=SOURCE for each", ["a:f32:1x2", "b:f32:1x3"], [one])
    refuse(USAGE, ["no input 'c'", "'a', 'b'"], ["a:f32:1x2", "b:f32:1x3"], [f"a={one}", f"c={two}"])
    refuse(USAGE, "two sources", ["a:f32:1x2"], [f"a={one}", f"a={two}"])


EXACT = [("f2", "f32"), ("f2", "f64"), ("f4", "f64"), ("u1", "s32"), ("i2", "s32"), ("u1", "u16"), ("i1", "s64"), ("u4", "s64")]


@pytest.mark.parametrize("letter, wanted", EXACT)
def test_exact_conversions(read, tmp_path, letter, wanted):
    array = numbers(letter, (1, 300))
    numpy.save(tmp_path / "a.npy", array)
    got = read(f"x:{wanted}:1x300", tmp_path / "a.npy").only
    assert NAMES[got.dtype.str[1:]] == wanted and (got == array.astype(got.dtype)).all()


@pytest.mark.parametrize("letter, wanted", [("f8", "f32"), ("f8", "f16"), ("f4", "f16")])
def test_rounding_conversions_are_said(read, tmp_path, letter, wanted):
    array = numbers(letter, (1, 3000))
    numpy.save(tmp_path / "a.npy", array)
    ran = read(f"x:{wanted}:1x3000", tmp_path / "a.npy")
    assert f"rounded to {wanted}" in ran.log
    narrow = array.astype("f4") if letter == "f8" else array
    assert (ran.only == narrow.astype({"f32": "f4", "f16": "f2"}[wanted])).all()


def test_integers_that_fit(read, refuse, tmp_path):
    array = numpy.array([[0, -1, 2**31 - 1, -2**31]], "i8")
    numpy.save(tmp_path / "a.npy", array)
    assert (read("x:s32:1x4", tmp_path / "a.npy").only == array).all()
    array[0, 2] += 1
    numpy.save(tmp_path / "a.npy", array)
    refuse(USAGE, ["a.npy", "input 'x'", "element 2 is 2147483648", "no s32"], "x:s32:1x4", tmp_path / "a.npy")
    numpy.save(tmp_path / "a.npy", numpy.array([[2**63]], "u8"))
    refuse(USAGE, "no s64", "x:s64:1x1", tmp_path / "a.npy")


def test_type_mismatch_is_refused_or_declared(read, refuse, tmp_path):
    """K13: pixels are not codes, and integers become floats only by declaration."""
    pixels = numpy.array([[0, 127, 128, 200, 255]], "u1")
    numpy.save(tmp_path / "a.npy", pixels)
    refuse(USAGE, ["it wants s8, the data are u8", "--mean 128"], "x:s8:1x5", tmp_path / "a.npy")
    assert read("x:s8:1x5", tmp_path / "a.npy", "--mean", 128).only.tolist() == [[-128, -1, 0, 72, 127]]
    refuse(USAGE, ["it wants f32, the data are u8", "--scale 1"], "x:f32:1x5", tmp_path / "a.npy")
    assert (read("x:f32:1x5", tmp_path / "a.npy", "--scale", 1).only == pixels).all()
    refuse(USAGE, ["element 1 is 63.5", "no u8"], "x:u8:1x5", tmp_path / "a.npy", "--scale", .5)
    numpy.save(tmp_path / "a.npy", numpy.array([[0.0, 0.5]], "f4"))
    refuse(USAGE, "it wants s8, the data are f32", "x:s8:1x2", tmp_path / "a.npy")


def test_layout(read, refuse, tmp_path):
    """K9: data whose channels are last are refused for a model that has them first, with what to pass."""
    array = numbers("f4", (4, 5, 3))
    numpy.save(tmp_path / "a.npy", array)
    refuse(USAGE, ["it wants 1x3x4x5, the array has 4x5x3", "pass --layout nhwc"], "x:f32:1x3x4x5", tmp_path / "a.npy")
    got = read("x:f32:1x3x4x5", tmp_path / "a.npy", "--layout", "nhwc").only
    assert (got == array.transpose(2, 0, 1)[None]).all()
    many = numbers("f4", (6, 4, 5, 3))
    numpy.save(tmp_path / "a.npy", many)
    refuse(USAGE, "pass --layout nhwc", "x:f32:?x3x4x5", tmp_path / "a.npy")
    got = read("x:f32:?x3x4x5", tmp_path / "a.npy", "--layout", "nhwc").all
    assert (got[:, 0] == many.transpose(0, 3, 1, 2)).all()
    numpy.savez(tmp_path / "a.npz", x=many)
    assert (read("x:f32:?x3x4x5", tmp_path / "a.npz", "--layout", "nhwc").all == got).all()
    assert (read("x:f32:?x4x5x3", tmp_path / "a.npy", "--layout", "nhwc").all[:, 0] == many).all()
    refuse(USAGE, "pass --layout nchw", "x:f32:1x5x3x4", tmp_path / "a.npy")


def test_flat_data_is_never_reshaped(refuse, tmp_path):
    numpy.save(tmp_path / "a.npy", numbers("f4", (1, 48)))
    refuse(USAGE, ["it wants 1x3x4x4, the array has 1x48", "never reshaped"], "x:f32:1x3x4x4", tmp_path / "a.npy")


def test_normalization(read, refuse, tmp_path):
    array = numbers("u1", (2, 3, 4, 4))
    numpy.save(tmp_path / "a.npy", array)
    mean, std = numpy.array([123.675, 116.28, 103.53], "f4"), numpy.array([58.395, 57.12, 57.375], "f4")
    got = read("x:f32:1x3x4x4", tmp_path / "a.npy", "--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375").all
    assert (got[:, 0] == (array.astype("f4") - mean[:, None, None]) / std[:, None, None]).all()
    last = numpy.ascontiguousarray(array.transpose(0, 2, 3, 1))
    numpy.save(tmp_path / "b.npy", last)
    got = read("x:f32:1x4x4x3", tmp_path / "b.npy", "--mean", "123.675,116.28,103.53", "--scale", .017).all
    assert (got[:, 0] == (last.astype("f4") - mean) * numpy.float32(.017)).all()
    refuse(USAGE, "both scale and std", "x:f32:1x4x4x3", tmp_path / "b.npy", "--std", 2, "--scale", 2)
    numpy.save(tmp_path / "c.npy", array.reshape(2, 48))
    refuse(USAGE, "no 3 channels", "x:f32:?x48", tmp_path / "c.npy", "--mean", "1,2,3")
    refuse(USAGE, "std has a 0", "x:f32:?x48", tmp_path / "c.npy", "--std", 0)
    refuse(USAGE, "resize works on pictures", "x:f32:?x48", tmp_path / "c.npy", "--resize", "4x4", "--scale", 1)


def test_twice_normalized_is_warned(read, tmp_path):
    """K10: the model begins with a Sub of its own."""
    numpy.save(tmp_path / "a.npy", numbers("f4", (1, 3)))
    assert "may normalize already" in read("x:f32:1x3", tmp_path / "a.npy", "--mean", 1, "--begin", "Sub").log
    assert "may normalize" not in read("x:f32:1x3", tmp_path / "a.npy", "--mean", 1, "--begin", "Relu").log
    assert "may normalize" not in read("x:f32:1x3", tmp_path / "a.npy", "--begin", "Sub").log


def test_range(read, refuse, tmp_path):
    numpy.save(tmp_path / "a.npy", numbers("f4", (8, 3)))
    ids = lambda *words: list(read("x:f32:1x3", tmp_path / "a.npy", *words).dump)
    assert ids("--samples", 3) == ["000000", "000001", "000002"]
    assert ids("--samples", "5:7") == ["000005", "000006"]
    assert ids("--samples", "6:") == ["000006", "000007"] == ids("--samples", "6:8")
    ran = read("x:f32:1x3", tmp_path / "a.npy", "--samples", 20)
    assert len(ran.dump) == 8 and "warning" in ran.log and "there are only 8" in ran.log
    refuse(USAGE, "leaves none of the 8", "x:f32:1x3", tmp_path / "a.npy", "--samples", 0)
    refuse(USAGE, "leaves none", "x:f32:1x3", tmp_path / "a.npy", "--samples", "8:9")
    refuse(USAGE, "N or A:B is wanted", "x:f32:1x3", tmp_path / "a.npy", "--samples", "x")


def test_random(read, refuse):
    ran = read("x:f32:?x3x4x4", "random:5")
    assert len(ran.dump) == 5 and ran.all.min() >= -1 and ran.all.max() < 1 and abs(ran.all.mean()) < .1
    assert len({a.tobytes() for a in ran.all}) == 5
    assert read("x:f32:?x3x4x4", "random:5").all.tobytes() == ran.all.tobytes()
    assert read("x:s64:1x40", "random:3").all.max() == 1
    refuse(USAGE, "open dimensions", "x:f32:1x3x?x4", "random:5")
    refuse(USAGE, "a number of samples", "x:f32:1x3", "random:0")


def test_written_archives_are_equal_bytes(read, tmp_path):
    numpy.save(tmp_path / "a.npy", numbers("f4", (2, 3)))
    dumps = []
    for i in range(2):
        read("x:f32:1x3", tmp_path / "a.npy", "-o", tmp_path / f"out{i}", dump=False)
        dumps.append({p.name: p.read_bytes() for p in (tmp_path / f"out{i}").iterdir()})
    assert dumps[0] == dumps[1] and set(dumps[0]) == {"000000.npz", "000001.npz", "list.txt"}
    with zipfile.ZipFile(tmp_path / "out0/000000.npz") as archive:
        assert [(i.filename, i.compress_type, i.date_time) for i in archive.infolist()] == [
            ("x.npy", zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0))]
        assert archive.testzip() is None


def header(text, version=1):
    text = text.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


LIES = [  # header or file, status, part of the text
    (header("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"), UNSUPPORTED, "Python objects"),
    (header("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }"), UNSUPPORTED, "element type is '<c8'"),
    (header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }"), UNSUPPORTED, "records"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 9), UNSUPPORTED, "version 9.0"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }") + bytes(11), MALFORMED, "12 bytes after the header, there are 11"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), LIMIT, "2^31 - 1"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647, 2147483647, 4), }"), LIMIT, "2^40"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), MALFORMED, "tuple of numbers"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551617,), }"), MALFORMED, "tuple of numbers"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }"), UNSUPPORTED, "9 dimensions"),
    (header("{'descr': '<f4', 'fortran_order': 1, 'shape': (3,), }"), MALFORMED, "neither True nor False"),
    (header("{'descr': '<f4', 'fortran_order': False}"), MALFORMED, "lacks 'shape'"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}"), MALFORMED, "unknown key 'x'"),
    (header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"), MALFORMED, "'descr' twice"),
    (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x"), MALFORMED, "nothing more"),
    (header("(1, 2)"), MALFORMED, "not a dictionary"),
    (b"\x93NUMPY\x01\x00\xff\xff{", MALFORMED, "within its header"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", LIMIT, "64 KiB"),
    (b"\x93NUMPY", MALFORMED, "no .npy file"),
    (b"", MALFORMED, "no .npy file"),
]


@pytest.mark.parametrize("data, status, part", LIES)
def test_lies(refuse, tmp_path, data, status, part):
    (tmp_path / "a.npy").write_bytes(data)
    refuse(status, ["a.npy: input 'x': ", part], "x:f32:1x3", tmp_path / "a.npy")


def test_what_numpy_writes_when_it_must(refuse, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array([{"a": 1}], dtype=object), allow_pickle=True)
    refuse(UNSUPPORTED, "Python objects", "x:f32:1x1", tmp_path / "a.npy")
    numpy.save(tmp_path / "a.npy", numpy.array(["text"]))
    refuse(UNSUPPORTED, "element type is '<U4'", "x:f32:1x1", tmp_path / "a.npy")
    numpy.save(tmp_path / "a.npy", numpy.zeros((0, 3), "f4"))
    refuse(USAGE, "no samples", "x:f32:1x3", tmp_path / "a.npy")


def test_archive_faults(refuse, tmp_path):
    numpy.savez(tmp_path / "a.npz", y=numbers("f4", (1, 3)), z=numbers("f4", (1, 3)))
    refuse(USAGE, ["no array 'x'", "it has 2, the first 'y'"], "x:f32:1x3", tmp_path / "a.npz")
    numpy.savez(tmp_path / "a.npz", x=numpy.arange(300, dtype="f4").reshape(1, 300))
    good = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(good.replace(numpy.float32(150).tobytes(), numpy.float32(151).tobytes(), 1))
    refuse(MALFORMED, ["a.npz", "CRC"], "x:f32:1x300", tmp_path / "a.npz")
    (tmp_path / "a.npz").write_bytes(good[:-30])
    refuse(MALFORMED, "a.npz", "x:f32:1x300", tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.npy", (header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }") + bytes(12)))
    refuse(UNSUPPORTED, "compressed by method 14", "x:f32:1x3", tmp_path / "b.npz")
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        archive.writestr("x.npy", b"junk")
    refuse(MALFORMED, ["array 'x'", "no .npy file"], "x:f32:1x3", tmp_path / "c.npz")


def test_directories_and_lists(read, refuse, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    refuse(USAGE, ["empty", "no samples"], "x:f32:1x3", empty)
    (empty / "readme.md").write_text("x")
    refuse(USAGE, "only such as 'readme.md'", "x:f32:1x3", empty)
    refuse(IO, ["nothing.npy", "No such file", "--data takes a directory"], "x:f32:1x3", tmp_path / "nothing.npy")
    data = tmp_path / "data"
    (data / "a").mkdir(parents=True), (data / "b").mkdir()
    for name in ("a/1.npy", "a/2.npy", "b/1.npy", "three.npy"):
        numpy.save(data / name, numpy.full((1, 3), len(name) * ord(name[-5]), "f4"))
    (data / "list.txt").write_text("# a comment\r\nb/1.npy\r\n\r\na/1.npy\r\na/2.npy\r\n./three.npy")
    ran = read("x:f32:1x3", data / "list.txt")
    assert ran.lines == ["2 2", "a_1.npy 1", "b_1.npy 0", "three 3"]
    assert ran.dump["b_1.npy"]["x"][0, 0] == 7 * ord("1")
    (data / "list.txt").write_text("b/1.npy\na/9.npy\n")
    refuse(IO, ["list.txt: line 2: ", "a/9.npy", "no such file"], "x:f32:1x3", data / "list.txt")
    for line in ("b/1.npy 7", "b/1.npy,7", "b/1.npy\t0"):
        (data / "list.txt").write_text(line)
        refuse(IO, ["list.txt: line 1: ", "no such file; a line is one path", "--labels"], "x:f32:1x3", data / "list.txt")
    for suffix in (":f33:1x3", ":f32:1x", ":f32:-1x3", ":nv12:axb", ":"):
        refuse(USAGE, [f"three.npy{suffix}: '{suffix}' is no :TYPE:SHAPE such as"], "x:f32:1x3", f"{data / 'three.npy'}{suffix}")
    (data / "a" / "bad.npy").write_bytes(b"\x93NUMPY\x09")
    (data / "list.txt").write_text("b/1.npy\na/bad.npy\n")
    refuse(MALFORMED, ["list.txt: line 2: ", "bad.npy: input 'x'"], "x:f32:1x3", data / "list.txt")
    (data / "x.png").write_bytes(b"")
    (data / "list.txt").write_text("b/1.npy\nx.png\n")
    refuse(USAGE, ["list.txt: line 2", "is a picture", "is an .npy array"], "x:f32:1x3", data / "list.txt")
    (data / "list.txt").write_text("a\n")
    refuse(IO, "is a directory", "x:f32:1x3", data / "list.txt")
    (data / "list.txt").write_text("\n\n")
    refuse(USAGE, "names no files", "x:f32:1x3", data / "list.txt")
    (data / "list.txt").write_text("b/1.npy\na/1.npy\n./b/1.npy\na/1.npy\n# more\nb/1.npy\n")
    ran = read("x:f32:1x3", data / "list.txt")
    assert len(ran.lines) == 5 and ran.log.count("warning: ") == 1
    assert "list.txt: 3 of 5 lines name a file again, the first is line 3: './b/1.npy'" in ran.log
    many = tmp_path / "many"
    many.mkdir()
    numpy.save(many / "a.npy", numbers("f4", (5, 3)))
    refuse(USAGE, "5 samples where one is wanted", "x:f32:1x3", many, "--whole")
    numpy.save(many / "b.npy", numbers("f4", (5, 3)))
    refuse(USAGE, "5 samples where one is wanted", "x:f32:1x3", many)
    ran = read("x:f32:?x3", many)
    assert ran.lines == ["a 0", "b 1"] and "has a batch of 5: join them" in ran.log


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("ending", [".txt", ""])
def test_a_list_in_two_bytes_a_letter(refuse, tmp_path, encoding, ending):
    numpy.save(tmp_path / "a.npy", numbers("f4", (1, 3)))
    marked = "\ufeff" if encoding == "utf-32-be" else ""
    (tmp_path / f"list{ending}").write_text(f"{marked}a.npy\n", encoding=encoding)
    refuse(USAGE, f"list{ending}: is text in UTF-16 or UTF-32; save it as UTF-8", "x:f32:1x3", tmp_path / f"list{ending}")


@pytest.mark.parametrize("save", ["npy", "npz", "npz_compressed"])
def test_a_directory_with_one_file_of_many_samples(read, tmp_path, save):
    array = numbers("f4", (5, 3))
    {"npy": lambda: numpy.save(tmp_path / "all.npy", array), "npz": lambda: numpy.savez(tmp_path / "all.npz", x=array),
     "npz_compressed": lambda: numpy.savez_compressed(tmp_path / "all.npz", x=array)}[save]()
    for shape in ("1x3", "?x3"):
        ran = read(f"x:f32:{shape}", tmp_path)
        assert ran.lines == [f"00000{i} {i}" for i in range(5)]
        assert all((ran.dump[f"00000{i}"]["x"] == array[i]).all() for i in range(5))
    assert read("x:f32:?x3", tmp_path, "--whole").lines == ["all 0"]


def test_a_directory_with_one_file_of_one_sample_keeps_its_name(read, tmp_path):
    numpy.savez(tmp_path / "cat.npz", x=numbers("f4", (1, 3)), y=numbers("f4", (4, 2)))
    assert read(["x:f32:1x3", "y:f32:4x2"], tmp_path).lines == ["cat 0"]


def test_folders_that_are_no_samples(refuse, read, tmp_path):
    for folder, count in (("few", 2), ("samples", 3)):
        (tmp_path / folder).mkdir()
        for i in range(count):
            numpy.save(tmp_path / folder / f"{i}.npy", numbers("f4", (1, 3)))
    refuse(USAGE, ["no samples itself", "samples beneath it has 3, such as .npy: pass that"], "x:f32:1x3", tmp_path)
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    (sounds / "a.WAV").write_bytes(b"RIFF\0\0")
    refuse(USAGE, ["only such as 'a.WAV'", "sound and video are not decoded"], "x:f32:1x3", sounds)
    refuse(USAGE, "a.WAV: sound and video are not decoded", "x:f32:1x3", sounds / "a.WAV")
    for name in ("a.txt", "b.txt", "README", "c.bin", "d.json", "e.md"):
        (tmp_path / "samples" / name).write_bytes(b"x")
    ran = read("x:f32:1x3", tmp_path / "samples")
    assert "6 other entries ignored: README, .txt 2, .bin, .json, ..." in ran.log


def test_trailing_bytes_are_said(read, tmp_path):
    array = numbers("f4", (1, 3))
    numpy.save(tmp_path / "a.npy", array)
    with open(tmp_path / "a.npy", "ab") as file:
        file.write(b"xyz")
    ran = read("x:f32:1x3", tmp_path / "a.npy")
    assert (ran.only == array).all() and "3 bytes after the array" in ran.log
