#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets npy, npz, image and list to tests/fuzz/corpus; the tests of hostile files begin from
them too; and tests/samples/data. Usage: build/venv/bin/python tests/samples/make_corpus.py"""
import io
import pathlib
import zipfile

import numpy
from PIL import Image

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpus"
random = numpy.random.default_rng(0)


def put(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def saved(save, *arrays, **named):
    data = io.BytesIO()
    save(data, *arrays, **named)
    return data.getvalue()


def npy():
    for letter in ("<f4", ">f4", "<f2", "<f8", "|i1", "|u1", "<i8", ">i2", "|b1"):
        put("npy", letter.strip("<>|") + ("_big" if letter[0] == ">" else ""),
            saved(numpy.save, numpy.arange(12).reshape(2, 3, 1, 2).astype(letter)))
    put("npy", "fortran", saved(numpy.save, numpy.asfortranarray(random.normal(size=(2, 3, 2)).astype("f4"))))
    put("npy", "scalar", saved(numpy.save, numpy.float32(3)))
    put("npy", "empty", saved(numpy.save, numpy.zeros((0, 3), "f4")))
    put("npy", "objects", saved(numpy.save, numpy.array([None])))
    put("npy", "records", saved(numpy.save, numpy.zeros(2, [("a", "<f4")])))
    for version in ((2, 0), (3, 0)):
        data = io.BytesIO()
        numpy.lib.format.write_array(data, numpy.zeros((1, 3), "f4"), version=version)
        put("npy", f"version{version[0]}", data.getvalue())


def npz():
    arrays = {"x": random.normal(size=(2, 3)).astype("f4"), "a/b:0": numpy.arange(4)}
    put("npz", "stored", saved(numpy.savez, **arrays))
    put("npz", "deflated", saved(numpy.savez_compressed, **arrays))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        fixed = lambda name: zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        archive.writestr(fixed("x.npy"), saved(numpy.save, numpy.zeros((1, 3), "f4")))
        archive.writestr(fixed("readme"), "not an array")
    put("npz", "mixed", data.getvalue())


def image():
    y, x = numpy.mgrid[:9, :13]
    rgb = numpy.stack([x * 19, y * 27, (x + y) * 11], 2).astype("u1")
    picture = Image.fromarray(rgb)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        converted = Image.fromarray((x * 5000).astype("u2")) if mode == "I;16" else picture.convert(mode)
        put("image", f"png_{mode.replace(';', '')}", saved(converted.save, format="PNG"))
    put("image", "png_transparent", saved(picture.quantize(4).save, format="PNG", bits=2, transparency=0))
    for name, options in {"420": {"subsampling": "4:2:0"}, "444": {"subsampling": "4:4:4"}, "progressive": {"progressive": True},
                          "rgb": {"keep_rgb": True}}.items():
        put("image", f"jpeg_{name}", saved(picture.save, format="JPEG", quality=70, **options))
    put("image", "jpeg_gray", saved(picture.convert("L").save, format="JPEG"))
    put("image", "jpeg_cmyk", saved(picture.convert("CMYK").save, format="JPEG"))
    exif = picture.getexif()
    exif[0x0112] = 6
    put("image", "jpeg_turned", saved(picture.save, format="JPEG", exif=exif))
    put("image", "bmp", saved(picture.save, format="BMP")[:60])


def texts():
    """The first byte picks what the text is: a list, a table, a source, a contract (tests/fuzz/fuzz_list.c)."""
    put("list", "list", b"0# comment\r\na.png\n\nb/c.jpg\n")
    put("list", "list_mark", b"0\xef\xbb\xbfx.npy\ny.npz")
    put("list", "table", b"1file,label,use\na.png,3,calib\n\"b,\"\"c\"\".png\",4,eval\r\n")
    put("list", "table_lines", b"1id,label\n\"two\nlines\",1\n")
    put("list", "raw", b"2f32:1x3x224x224")
    put("list", "frame", b"2nv12:320x240")
    put("list", "resize", b"3416x416:opencv:fit-center")
    put("list", "short", b"3256")


npy()
npz()
image()
texts()
DATA = pathlib.Path(__file__).resolve().parent / "data"
DATA.mkdir(exist_ok=True)
numpy.savez_compressed(DATA / "lines_deflated.npz", x=numpy.arange(40 * 1000, dtype="f4").reshape(40, 1000))
