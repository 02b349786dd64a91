"""Pictures: decoded as Pillow decodes, resized as Pillow, OpenCV and scikit-image resize, recoloured by the formulas."""
import importlib.util
import struct
import zlib

import cv2
import numpy
import pytest
from PIL import Image
from skimage.transform import resize as skimage_resize

from conftest import IO, LIMIT, MALFORMED, OK, UNSUPPORTED, USAGE

random = numpy.random.default_rng(2)
OPEN = "x:u8:1x?x?x3"


def picture(height, width, channels=3):
    """Smooth with noise: what a codec and a resize both find something in."""
    y, x = numpy.mgrid[:height, :width]
    base = [127 + 90 * numpy.sin(x / (5 + 3 * c) + y / (9 - c)) for c in range(channels)]
    noisy = numpy.stack(base, 2) + random.normal(0, 20, (height, width, channels))
    return numpy.clip(noisy, 0, 255).astype("u1").squeeze()


def pillow(path):
    return numpy.asarray(Image.open(path).convert("RGB"))


# ---- decoding

def save(path, mode, size=(37, 29), **options):
    width, height = size
    if mode == "I;16":
        image = Image.fromarray(random.integers(0, 65536, (height, width), dtype="u2"))
    else:
        image = Image.fromarray(picture(height, width)).convert("RGBA" if mode in ("RGBA", "LA") else "RGB")
        if mode in ("RGBA", "LA"):
            image.putalpha(Image.fromarray(picture(height, width, 1)))
        image = image.convert(mode)
    image.save(path, **options)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_png_modes(read, tmp_path, mode):
    save(tmp_path / "a.png", mode)
    got = read(OPEN, tmp_path / "a.png").only[0]
    assert (got == pillow(tmp_path / "a.png")).all()


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_png_palettes_with_few_bits_and_transparency(read, tmp_path, bits):
    image = Image.fromarray(picture(29, 37)).quantize(2**bits)
    image.save(tmp_path / "a.png", bits=bits, transparency=0)
    assert (read(OPEN, tmp_path / "a.png").only[0] == pillow(tmp_path / "a.png")).all()


def png(width, height, depth, color, rows, interlace=0, extra=b""):
    """A PNG of these packed rows (or, interlaced, of these passes of rows), by hand."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)) +
            extra + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_png_gray_with_few_bits(read, tmp_path, bits):
    rows = [random.bytes((37 * bits + 7) // 8) for _ in range(29)]
    (tmp_path / "a.png").write_bytes(png(37, 29, bits, 0, rows))
    assert (read(OPEN, tmp_path / "a.png").only[0] == pillow(tmp_path / "a.png")).all()


@pytest.mark.parametrize("color, channels", [(2, 3), (4, 2), (6, 4)])
def test_png_sixteen_bits(read, tmp_path, color, channels):
    rows = [random.bytes(37 * channels * 2) for _ in range(29)]
    (tmp_path / "a.png").write_bytes(png(37, 29, 16, color, rows))
    ran = read(OPEN, tmp_path / "a.png")
    assert (ran.only[0] == pillow(tmp_path / "a.png")).all() and "16 bits" in ran.log


def test_png_gray_of_sixteen_bits_keeps_its_high_byte(read, tmp_path):
    save(tmp_path / "a.png", "I;16")
    deep = numpy.asarray(Image.open(tmp_path / "a.png"))
    assert (read("x:u8:1x1x?x?", tmp_path / "a.png").only[0, 0] == deep >> 8).all()


def test_png_interlaced(read, tmp_path):
    image = picture(29, 37)
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = [row.tobytes() for x, y, dx, dy in passes for row in image[y::dy, x::dx] if row.size]
    (tmp_path / "a.png").write_bytes(png(37, 29, 8, 2, rows, interlace=1))
    assert (pillow(tmp_path / "a.png") == image).all()
    assert (read(OPEN, tmp_path / "a.png").only[0] == image).all()


def test_png_gamma_and_profile_are_ignored(read, tmp_path):
    image = picture(29, 37)
    gamma = struct.pack(">I", 4) + b"gAMA" + struct.pack(">I", 45455) + struct.pack(">I", zlib.crc32(b"gAMA" + struct.pack(">I", 45455)))
    (tmp_path / "a.png").write_bytes(png(37, 29, 8, 2, [row.tobytes() for row in image], extra=gamma))
    assert (read(OPEN, tmp_path / "a.png").only[0] == image).all()


@pytest.mark.parametrize("size", [(37, 29), (64, 48), (1, 1), (17, 3)])
@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg(read, tmp_path, size, sampling, progressive):
    save(tmp_path / "a.jpg", "RGB", size, quality=80, subsampling=sampling, progressive=progressive)
    assert (read(OPEN, tmp_path / "a.jpg").only[0] == pillow(tmp_path / "a.jpg")).all()


@pytest.mark.parametrize("quality", [5, 50, 100])
def test_jpeg_gray(read, tmp_path, quality):
    save(tmp_path / "a.jpg", "L", quality=quality)
    assert (read(OPEN, tmp_path / "a.jpg").only[0] == pillow(tmp_path / "a.jpg")).all()
    gray = numpy.asarray(Image.open(tmp_path / "a.jpg"))
    assert (read("x:u8:1x1x?x?", tmp_path / "a.jpg").only[0, 0] == gray).all()


def test_jpeg_rgb_without_transform(read, tmp_path):
    save(tmp_path / "a.jpg", "RGB", keep_rgb=True)
    assert (read(OPEN, tmp_path / "a.jpg").only[0] == pillow(tmp_path / "a.jpg")).all()


def test_jpeg_orientation_is_ignored_and_said(read, tmp_path):
    image = Image.fromarray(picture(29, 37))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "a.jpg", exif=exif)
    ran = read(OPEN, tmp_path / "a.jpg")
    assert (ran.only[0] == pillow(tmp_path / "a.jpg")).all() and "EXIF orientation" in ran.log


def test_what_is_not_read(refuse, read, tmp_path):
    save(tmp_path / "a.jpg", "CMYK")
    refuse(UNSUPPORTED, ["a.jpg: input 'x': ", "CMYK", "convert it to RGB"], OPEN, tmp_path / "a.jpg")
    for name, kind in [("bmp", "BMP"), ("gif", "GIF"), ("webp", "WebP"), ("tiff", "TIFF")]:
        save(tmp_path / f"a.{name}", "RGB")
        refuse(UNSUPPORTED, [f"a {kind} picture", "convert it to PNG or JPEG"], OPEN, tmp_path / f"a.{name}")
    (tmp_path / "a.png").write_bytes(b"")
    refuse(MALFORMED, "is empty", OPEN, tmp_path / "a.png")
    save(tmp_path / "a.png", "RGB")
    data = bytearray((tmp_path / "a.png").read_bytes())
    data[-13] ^= 1    # the checksum of the pixels
    (tmp_path / "a.png").write_bytes(data)
    refuse(MALFORMED, ["a.png", "PNG", "CRC"], OPEN, tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(png(65535, 65535, 8, 2, [b""]))
    refuse(LIMIT, "at most", OPEN, tmp_path / "b.png")
    (tmp_path / "c.jpg").symlink_to(tmp_path / "a.png")
    save(tmp_path / "a.png", "RGB")
    assert read(OPEN, tmp_path / "c.jpg").status == OK  # contents decide, not names


def test_every_shared_picture(read, shared):
    folders = {path.parent for pattern in ("*/samples*", "_data/coco/images", "_data/nv12") for folder in shared.glob(pattern)
               for path in folder.iterdir() if path.suffix in (".png", ".jpg", ".jpeg")}
    count = 0
    for folder in sorted(folders):
        ran = read(OPEN, folder)
        assert ran.status == OK, ran.log
        paths = [p for p in folder.iterdir() if p.suffix in (".png", ".jpg", ".jpeg")]
        assert len(ran.dump) == len(paths)
        for path in paths:
            assert (ran.dump[path.stem]["x"][0] == pillow(path)).all(), path
            count += 1
    assert count > 1000


# ---- resizing

SIZES = [(48, 64, 32, 40), (48, 64, 24, 32), (48, 64, 100, 90), (7, 5, 16, 16), (427, 640, 224, 224), (1, 1, 5, 5), (3, 200, 7, 7),
         (200, 3, 7, 2), (48, 64, 48, 32), (48, 64, 20, 64), (33, 77, 224, 224), (480, 640, 1, 1), (9, 9, 9, 9), (2, 2, 3, 1)]
RANDOM_SIZES = [tuple(int(v) for v in random.integers(1, 300, 4)) for _ in range(20)]


def by_pillow(image, width, height):
    return numpy.asarray(Image.fromarray(image).resize((width, height), Image.BILINEAR))


def by_opencv(image, width, height):
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR).reshape(height, width, *image.shape[2:])


def by_skimage(image, width, height):
    return skimage_resize(image, (height, width), order=1, preserve_range=True)


@pytest.mark.parametrize("sizes", SIZES + RANDOM_SIZES, ids=str)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name, oracle", [("pillow", by_pillow), ("opencv", by_opencv), ("skimage", by_skimage)])
def test_resize(read, tmp_path, sizes, channels, name, oracle):
    height, width, to_height, to_width = sizes
    image = random.integers(0, 256, (height, width, 3)[:2 if channels == 1 else 3], dtype="u1")
    Image.fromarray(image).save(tmp_path / "a.png")
    got = read(f"x:f32:1x?x?x{channels}", tmp_path / "a.png", "--resize", f"{to_width}x{to_height}:{name}").only[0]
    want = oracle(image, to_width, to_height).reshape(got.shape)
    if name == "skimage":
        assert numpy.abs(got - want).max() <= 255 * 1e-6
    else:
        assert (got == want).all()


def test_shorter_side_and_crop(read, refuse, tmp_path):
    """torchvision's Resize(S) and CenterCrop."""
    for height, width in [(60, 97), (97, 60), (50, 50), (61, 98)]:
        image = picture(height, width)
        Image.fromarray(image).save(tmp_path / "a.png")
        long = int(40 * max(height, width) / min(height, width))
        size = (40, long) if width <= height else (long, 40)
        want = by_pillow(image, *size)
        assert (read(OPEN, tmp_path / "a.png", "--resize", 40).only[0] == want).all()
        top, left = round((size[1] - 33) / 2), round((size[0] - 32) / 2)
        got = read(OPEN, tmp_path / "a.png", "--resize", 40, "--crop", "32x33").only[0]
        assert (got == want[top:top + 33, left:left + 32]).all()
    refuse(USAGE, "crop 99x33: the picture has only", OPEN, tmp_path / "a.png", "--crop", "99x33")


@pytest.mark.parametrize("size", [(60, 97), (97, 60), (50, 50), (200, 3)])
def test_fit(read, tmp_path, size):
    image = picture(*size)
    Image.fromarray(image).save(tmp_path / "a.png")
    height, width = size
    scale = min(64 / width, 48 / height)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    for word, left, top in [("fit", 0, 0), ("fit-center", (64 - w) // 2, (48 - h) // 2)]:
        want = numpy.full((48, 64, 3), 114, "u1")
        want[top:top + h, left:left + w] = by_pillow(image, w, h)
        assert (read(OPEN, tmp_path / "a.png", "--resize", f"64x48:{word}").only[0] == want).all()
    want = numpy.full((48, 64, 3), (1, 2, 3), "u1")
    want[:h, :w] = by_opencv(image, w, h)[:, :, ::-1]
    got = read(OPEN, tmp_path / "a.png", "--resize", "64x48:opencv:fit", "--pad", "1,2,3", "--color", "bgr").only[0]
    assert (got == want).all()


# ---- colours

def test_channels(read, refuse, tmp_path):
    image = picture(12, 16)
    Image.fromarray(image).save(tmp_path / "a.png")
    assert (read(OPEN, tmp_path / "a.png", "--color", "bgr").only[0] == image[:, :, ::-1]).all()
    gray = numpy.asarray(Image.fromarray(image).convert("L"))
    assert (read("x:u8:1x1x12x16", tmp_path / "a.png", "--color", "gray").only[0, 0] == gray).all()
    assert (read("x:f32:3x12x16", tmp_path / "a.png").only == image.transpose(2, 0, 1)).all()
    assert (read("x:f32:12x16x3", tmp_path / "a.png").only == image).all()
    assert (read("x:f32:?x?x?x?", tmp_path / "a.png").only[0] == image.transpose(2, 0, 1)).all()
    assert (read("x:f32:?x?x?x?", tmp_path / "a.png", "--layout", "nhwc").only[0] == image).all()
    refuse(USAGE, "pass --color gray", "x:u8:1x1x12x16", tmp_path / "a.png")
    refuse(USAGE, "--color gives 1 channel, it wants 3", OPEN, tmp_path / "a.png", "--color", "gray")
    refuse(USAGE, ["it wants 32 pixels wide and 24 high, the picture has 16x12", "--resize 32x24"], "x:f32:1x3x24x32",
           tmp_path / "a.png")
    refuse(USAGE, "pictures come one at a time", "x:f32:4x3x12x16", tmp_path / "a.png")
    refuse(USAGE, "which pictures", "x:f32:1x784", tmp_path / "a.png")
    refuse(USAGE, "neither 1 nor 3 channels", "x:f32:1x12x12x16", tmp_path / "a.png")


def test_types(read, refuse, tmp_path):
    image = picture(12, 16)
    Image.fromarray(image).save(tmp_path / "a.png")
    assert (read("x:f16:1x3x12x16", tmp_path / "a.png", "--mean", "127", "--std", "128").only[0] ==
            ((image.astype("f4") - 127) / numpy.float32(128)).astype("f2").transpose(2, 0, 1)).all()
    assert (read("x:s32:1x12x16x3", tmp_path / "a.png").only[0] == image).all()
    assert (read("x:s8:1x12x16x3", tmp_path / "a.png", "--mean", 128).only[0] == image.astype(int) - 128).all()
    refuse(USAGE, ["it wants s8, the data are u8", "--mean 128"], "x:s8:1x12x16x3", tmp_path / "a.png")
    refuse(USAGE, "no s8", "x:s8:1x12x16x3", tmp_path / "a.png", "--mean", 2)


def rounded(values):
    return numpy.clip(numpy.floor(values + .5), 0, 255).astype("u1")


def near_tie(exact):
    """Where f64 has no say on the rounding."""
    return numpy.abs(exact - numpy.floor(exact) - .5) < 1e-9


TO_YUV = {"limited": ([16, 128, 128], numpy.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112], [112, -93.786, -18.214]]) / 255),
          "full": ([0, 128, 128], numpy.array([[.299, .587, .114], [-.168736, -.331264, .5], [.5, -.418688, -.081312]]))}


@pytest.mark.parametrize("range_", TO_YUV)
def test_yuv444(read, tmp_path, range_):
    image = random.integers(0, 256, (64, 64, 3), dtype="u1")
    Image.fromarray(image).save(tmp_path / "a.png")
    offset, matrix = TO_YUV[range_]
    got = read(OPEN, tmp_path / "a.png", "--color", "yuv444", "--yuv-range", range_).only[0]
    exact = image @ matrix.T + offset
    assert ((got == rounded(exact)) | near_tie(exact)).all()
    if range_ == "full":
        assert numpy.abs(got.astype(int) - numpy.asarray(Image.fromarray(image).convert("YCbCr"))).max() <= 1


@pytest.mark.parametrize("color, flip", [("nv12", 1), ("nv12-bgr", -1)])
def test_nv12_of_the_shared_frames(read, shared, color, flip):
    """A PNG taken to NV12 and back is what the shared frame, made by others from that PNG, gives; and OpenCV agrees."""
    for frame in sorted((shared / "_data/nv12").glob("*.yuv")):
        source = frame.with_name(frame.name.replace("_nv12.yuv", ".png"))
        through = read(OPEN, source, "--color", color).only[0]
        direct = read(OPEN, f"{frame}:nv12:320x240", "--color", color).only[0]
        offset, matrix = TO_YUV["limited"]
        exact = pillow(source) @ matrix.T + offset
        exact[..., 1:] = exact[..., 1:].reshape(120, 2, 160, 2, 2).mean((1, 3)).repeat(2, 0).repeat(2, 1)
        at_tie = near_tie(exact).any(-1)                        # the frames were made with f64, which rounds ties anyhow
        assert at_tie.mean() < .001 and (through == direct)[~at_tie].all()
        raw = numpy.frombuffer(frame.read_bytes(), "u1").reshape(360, 320)
        assert (direct[:, :, ::flip] == cv2.cvtColor(raw, cv2.COLOR_YUV2RGB_NV12)).all()
        yuv = read("x:u8:1x3x240x320", f"{frame}:nv12:320x240", "--color", "yuv444").only[0]
        assert (yuv[0] == raw[:240]).all()
        assert (yuv[1:] == raw[240:].reshape(120, 160, 2).transpose(2, 0, 1).repeat(2, 1).repeat(2, 2)).all()


def test_nv12_random_frames(read, refuse, tmp_path):
    frames = random.integers(0, 256, (3, 36, 32), dtype="u1")
    (tmp_path / "a.yuv").write_bytes(frames.tobytes())
    got = read("x:u8:1x24x32x3", f"{tmp_path}/a.yuv:nv12:32x24").all[:, 0]
    assert (got == [cv2.cvtColor(f, cv2.COLOR_YUV2RGB_NV12) for f in frames]).all()
    y, uv = frames[:, :24].astype(float), frames[:, 24:].reshape(3, 12, 16, 2).repeat(2, 1).repeat(2, 2) - 128.0
    u, v = uv[..., 0], uv[..., 1]
    want = rounded(numpy.stack([y + 1.402 * v, y - .344136 * u - .714136 * v, y + 1.772 * u], -1))
    full = read("x:u8:1x24x32x3", f"{tmp_path}/a.yuv:nv12:32x24", "--yuv-range", "full").all[:, 0]
    assert (full == want).mean() > .999 and numpy.abs(full.astype(int) - want).max() <= 1   # ties of f64
    refuse(USAGE, ["3456 bytes", "an NV12 frame of 30x24 takes 1080"], OPEN, f"{tmp_path}/a.yuv:nv12:30x24")
    refuse(USAGE, "even sides, not 31x24", OPEN, f"{tmp_path}/a.yuv:nv12:31x24")
    refuse(USAGE, "WIDTHxHEIGHT", OPEN, tmp_path / "a.yuv")


def test_nv12_cases(read, refuse, tmp_path):
    """K12: one red and three black pixels share a chroma; gray 16 is Y 30 of the limited range, U = V = 128."""
    image = numpy.zeros((2, 2, 3), "u1")
    image[0, 0] = 255, 0, 0
    Image.fromarray(image).save(tmp_path / "a.png")
    got = read(OPEN, tmp_path / "a.png", "--color", "nv12").only[0].astype(int)
    assert (got[1] == got[1, 0]).all() and got[1, 0, 0] > 20 and got[0, 0, 0] > got[1, 0, 0]
    Image.fromarray(numpy.full((2, 2, 3), 16, "u1")).save(tmp_path / "a.png")
    assert (read(OPEN, tmp_path / "a.png", "--color", "yuv444", "--yuv-range", "full").only[0] == [16, 128, 128]).all()
    Image.fromarray(picture(3, 4)).save(tmp_path / "a.png")
    refuse(USAGE, "NV12 needs even sides, the picture has 4x3", OPEN, tmp_path / "a.png", "--color", "nv12")
    refuse(USAGE, "skimage", OPEN, tmp_path / "a.png", "--color", "nv12", "--resize", "4x4:skimage")


# ---- the whole contract

def test_normalization(read, tmp_path):
    """K10, K11: each channel has its own mean; torchvision's small means are for pixels of 0…1."""
    Image.fromarray(numpy.full((1, 1, 3), (200, 0, 0), "u1")).save(tmp_path / "a.png")
    stats = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
    assert abs(read("x:f32:1x3x1x1", tmp_path / "a.png", *stats).only[0, 0] - 1.3070) < 1e-4
    assert abs(read("x:f32:1x3x1x1", tmp_path / "a.png", *stats, "--color", "bgr").only[0, 2] - 1.6814) < 1e-4
    image = picture(12, 16)
    Image.fromarray(image).save(tmp_path / "a.png")
    small = ["--mean", ".485,.456,.406", "--std", ".229,.224,.225"]
    ran = read("x:f32:1x3x12x16", tmp_path / "a.png", *small, "--print")
    want = (image.astype("f4") / 255 - numpy.array([.485, .456, .406], "f4")) / numpy.array([.229, .224, .225], "f4")
    assert (ran.only[0] == want.transpose(2, 0, 1)).all()
    (echo,) = [line for line in ran.lines if line.startswith("input 'x'")]
    assert "(x/255 - mean) / std, mean 0.485,0.456,0.406 std 0.229,0.224,0.225" in echo
    assert f"min {want.min():.6g} mean {want.astype('f8').mean():.6g} max {want.max():.6g}" in echo


def score(shared):
    spec = importlib.util.spec_from_file_location("score", shared / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


IMAGENET = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
FEEDS = [
    ("ic_resnet8", "input_1:f32:?x32x32x3", "ic_resnet8/samples", []),
    ("vww_mobilenet025", "input_1:f32:?x96x96x3", "_data/coco/images", ["--resize", "96x96", "--std", "255"]),
    ("osnet_x0_25", "images:f32:?x3x256x128", "osnet_x0_25/samples", IMAGENET),
    ("nanodet_m_320", "input.1:f32:1x3x320x320", "_data/coco/images",
     ["--resize", "320x320", "--color", "bgr", "--mean", "103.53,116.28,123.675", "--std", "57.375,57.12,58.395"]),
    ("yolox_nano_416", "images:f32:1x3x416x416", "_data/coco/images", ["--resize", "416x416:fit", "--color", "bgr"]),
    ("ultraface_rfb320", "input:f32:1x3x240x320", "ultraface_rfb320/samples",
     ["--resize", "320x240", "--mean", 127, "--std", 128]),
]


@pytest.mark.parametrize("model, wanted, folder, options", FEEDS, ids=[f[0] for f in FEEDS])
def test_feeds_are_what_score_py_makes(read, shared, model, wanted, folder, options):
    task = score(shared).TASKS[model]()
    ran = read(wanted, shared / folder, *options)
    assert ran.status == OK, ran.log
    for use in ("calib", "eval"):
        for row, feed in zip(task.rows(use), task.samples(use)[0]):
            name = row["file"].rsplit(".", 1)[0]
            for key, want in feed.items():
                got = ran.dump[name][key]
                assert got.dtype == want.dtype and (got == want).all(), (row["file"], numpy.abs(got - want).max())


def test_texts_of_options(refuse, tmp_path):
    Image.fromarray(picture(4, 4)).save(tmp_path / "a.png")
    for option, value, part in [
            ("--resize", "4", "the picture has 4x4"), ("--resize", "0x4", "1...16384"), ("--resize", "4x4:bicubic", "not 'bicubic'"),
            ("--resize", "4:fit", "needs both sides"), ("--crop", "4", "WxH in pixels"), ("--mean", "1,2", "has 2 numbers"),
            ("--pad", "3", "no :fit"), ("--color", "bgrr", "did you mean 'bgr'"), ("--mean", "nan", "finite")]:
        refuse(USAGE, part, "x:f32:1x3x5x5", tmp_path / "a.png", option, value)
    refuse(USAGE, "no pixel value", "x:f32:1x3x5x5", tmp_path / "a.png", "--resize", "5x5:fit", "--pad", "300")
    refuse(IO, "No such file", "x:f32:1x3x5x5", tmp_path / "b.png")


def test_pixels_as_they_are_are_warned_of(read, tmp_path):
    """But where the user, or the model's own first step, says that they are right."""
    Image.fromarray(picture(4, 4)).save(tmp_path / "a.png")
    warning = "warning: input 'x': pixels go in as they are, 0...255"
    assert warning in read("x:f32:1x3x4x4", tmp_path / "a.png").log
    for options in (["--scale", "1"], ["--mean", "0"], ["--std", "255"], ["--begin", "Sub"]):
        assert "pixels go in" not in read("x:f32:1x3x4x4", tmp_path / "a.png", *options).log, options
    assert "pixels go in" not in read("x:u8:1x3x4x4", tmp_path / "a.png").log


def test_pixels_less_their_mean_are_warned_of(read, tmp_path):
    Image.fromarray(picture(4, 4)).save(tmp_path / "a.png")
    warning = "warning: input 'x': pixels go in less their mean, and still 255 wide: pass the --std"
    for mean in "127", "123.7,116.3,103.5":
        assert warning in read("x:f32:1x3x4x4", tmp_path / "a.png", "--mean", mean).log
    for options in (["--std", "1"], ["--std", "128"], ["--scale", "1/128"]):
        assert "pixels go in" not in read("x:f32:1x3x4x4", tmp_path / "a.png", "--mean", "127", *options).log, options


def test_mean_and_std_of_different_scales(read, refuse, tmp_path):
    Image.fromarray(picture(4, 4)).save(tmp_path / "a.png")
    numpy.save(tmp_path / "u8.npy", picture(4, 4).transpose(2, 0, 1)[None])
    for data in ("a.png", "u8.npy"):
        words = "x:f32:1x3x4x4", tmp_path / data
        for mean in ("0.485", ".485,.456,.406"):
            refuse(USAGE, ["mean 0.485 is of pixels 0...1", "mean * 255 is 123.675"], *words, "--mean", mean, "--std", "58.4")
        refuse(USAGE, ["mean 123.7 is of pixels 0...255", "std * 255 is 58.395"], *words, "--mean", "123.7", "--std", ".229")
        assert "mean is of pixels 0...1" in read(*words, "--mean", ".5").log
        assert "mean is of pixels 0...1" in read(*words, "--mean", ".5", "--scale", "1/255").log
        assert "std is of pixels 0...1" in read(*words, "--std", ".25").log
        for fine in (["--mean", ".5", "--std", ".5"], ["--mean", "127.5", "--std", "127.5"], ["--mean", "0", "--std", "255"],
                     ["--mean", "128"], ["--std", "255"], ["--mean", "0", "--std", ".5"], ["--mean", "104,117,123", "--scale", ".017"]):
            log = read(*words, *fine).log
            assert "of pixels 0...1" not in log, (fine, log)
    numpy.save(tmp_path / "f32.npy", numpy.zeros((1, 3, 4, 4), "f4"))
    assert read("x:f32:1x3x4x4", tmp_path / "f32.npy", "--mean", ".5", "--std", "12").status == OK


def test_gray_pictures_for_three_channels_are_said(read, tmp_path):
    Image.fromarray(picture(4, 4)).convert("L").save(tmp_path / "a.png")
    assert "a.png: is gray; the input's three channels are alike" in read("x:f32:1x3x4x4", tmp_path / "a.png").log
    assert "is gray" not in read("x:f32:1x1x4x4", tmp_path / "a.png").log


def test_a_broken_picture_among_others(refuse, tmp_path):
    for name in "ab":
        Image.fromarray(picture(4, 4)).save(tmp_path / f"{name}.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "b.png").read_bytes()[:60])
    refuse(MALFORMED, ["b.png: input 'x': ", "leave it out: move it away, or pass a list"], "x:f32:1x3x4x4", tmp_path)
