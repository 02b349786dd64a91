#!/usr/bin/env python3
"""Makes the seeds of the ranges reader's fuzz target: files of one and two values with every part that can be there, and one
with each part damaged. Usage: make_corpus_ranges.py [DIRECTORY]"""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent


def place(number):
    """(negative, exponent, bin) of an f32."""
    bits = struct.unpack("<I", struct.pack("<f", number))[0]
    return bits >> 31, (bits >> 23 & 255) - 127, bits >> 16 & 127


def total(numbers):
    """The sum in units of 2^-192, two's complement in 384 bits."""
    return f"{sum(int(n * 2**64) << 128 for n in numbers) % 2**384:096x}"


def pages(numbers, sign):
    counts = {}
    for number in numbers:
        negative, exponent, at = place(number)
        if negative == sign:
            bins = counts.setdefault(exponent, [0] * 128)
            bins[at] += 1
    out = []
    for exponent in sorted(counts):
        used = [i for i, n in enumerate(counts[exponent]) if n]
        out.append([exponent, used[0], " ".join(str(n) for n in counts[exponent][used[0]:used[-1] + 1])])
    return out


def value(name, samples, nans=0, channels=()):
    """`samples`: {id: numbers}."""
    numbers = [n for s in samples.values() for n in s]
    low = sorted((min(s), i) for i, s in samples.items())
    high = sorted((-max(s), i) for i, s in samples.items())
    return {"name": name, "count": len(numbers) + nans, "nan": nans, "positive_infinity": 0, "negative_infinity": 0,
            "nonfinite_sample": "a" if nans else None, "samples": len(samples),
            "min": min(numbers) if numbers else None, "max": max(numbers) if numbers else None,
            "lowest": [[n, i] for n, i in low[:4]], "highest": [[-n, i] for n, i in high[:4]],
            "sum_of_minima": total(min(s) for s in samples.values()),
            "sum_of_maxima": total(max(s) for s in samples.values()),
            "channel_min": [c[0] for c in channels], "channel_max": [c[1] for c in channels],
            "channel_sums": [total(numbers)] if channels else [],
            "negative": pages(numbers, 1), "positive": pages(numbers, 0)}


def ranges(values, samples, synthetic=False):
    return {"schema": "tare-ranges/1", "model": "0123456789abcdef", "samples": samples, "synthetic": synthetic,
            "values": values}


def main():
    to = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "ranges"
    to.mkdir(parents=True, exist_ok=True)
    few = {"a": [0.5, -1.25, 0.0, 3.0], "b": [2.0, -0.0625, 1.0]}
    many = {f"s{i}": [i / 4, -i / 2, 1.0, 1.5, 2.0**-i] for i in range(6)}
    whole = value("conv", few, 2, [(-1.25, 3.0), (None, None)])
    seeds = {"none": ranges([], 0), "empty": ranges([value("x", {})], 3), "one": ranges([whole], 2),
             "two": ranges([value("x", many), value("y", few)], 6, True)}
    for key in whole:
        seeds[f"no_{key}"] = ranges([{k: v for k, v in whole.items() if k != key}], 2)
        seeds[f"odd_{key}"] = ranges([{**whole, key: [[1, -7, "x"]]}], 2)
    for name, seed in seeds.items():
        (to / name).write_text(json.dumps(seed, separators=(", ", ": ")) + "\n")
    (to / "cut").write_text(json.dumps(seeds["one"])[:300])


if __name__ == "__main__":
    main()
