#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the recorded images that TensorFlow decodes wrongly, and writes the correct pixels and the reason.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow==13.0.0 numpy && /tmp/venv/bin/python tests/golden/make_image_corrections.py

Reads images/cases.json and images/bytes.bin (make_images.py). Writes images/corrections.json, one line for each such case.
The correct pixels are a part of TensorFlow's own whole image (crops of JPEG) or Pillow's pixels (PNG, BMP and GIF). Recorded
answers that agree with them, and files that both refuse, have no line. The script is deterministic.
"""
import io
import json
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent / "images"
CROP = "a crop has the pixels of the whole image; TensorFlow interpolates the colors at its edges as if the image ended there"
TRAILING = "bytes after the pixels, such as a color profile, are ignored; TensorFlow refuses them"
UNUSED = "without masks the fourth byte of a pixel is not used; TensorFlow returns it as alpha"
OPAQUE = "an image without alpha is opaque; TensorFlow's alpha is the largest number of the file's own depth"
DISPOSAL = "a frame's area is restored as its disposal method says; TensorFlow draws each frame over the one before"


def whole_of(cases, case):
    """The recorded answer of the same file, decoded with the default options."""
    return next(c for c in cases if c["encoded"] == case["encoded"] and c["call"] == case["call"] and len(c) == 6)


def jpeg(case, cases, blob):
    if "crop" not in case or "error" in case:
        return None
    whole = whole_of(cases, case)
    pixels = np.frombuffer(zlib.decompress(blob(whole["pixels"])), np.uint8).reshape(whole["shape"])
    y, x, height, width = case["crop"]
    right = np.ascontiguousarray(pixels[y:y + height, x:x + width])
    return None if right.tobytes() == zlib.decompress(blob(case["pixels"])) else (CROP, right)


def png(case, cases, blob):
    encoded = blob(case["encoded"])
    if case.get("channels") != 4 or "shape" not in case:
        return None
    depth, kind = encoded[24], encoded[25]
    if depth == 16 or kind & 4 or b"tRNS" in encoded:
        return None
    right = np.asarray(Image.open(io.BytesIO(encoded)).convert("RGBA"))
    return OPAQUE, right if case.get("type", "uint8") == "uint8" else right.astype("<u2") * 257


def bmp(case, cases, blob):
    encoded = blob(case["encoded"])
    try:
        image = Image.open(io.BytesIO(encoded))
        image.load()
    except (OSError, ValueError):
        return None
    if "error" in case and len(encoded) < struct.unpack_from("<I", encoded, 2)[0]:
        return None  # Pillow reads rows without their last padding
    mode = {3: "RGB", 4: "RGBA"}.get(case.get("channels"), "L" if image.mode == "L" else "RGB")
    bits = encoded[28]
    if bits == 32 and mode == "RGBA":
        return None  # the fourth byte was asked for
    right = np.asarray(image.convert(mode))
    return UNUSED if bits == 32 else TRAILING, right.reshape(*right.shape[:2], -1)


def with_background_frame(encoded):
    """The file with a first frame of one pixel of color 0. Pillow never restores what was before a first frame."""
    colors_end = 13 + 3 * (2 << (encoded[10] & 7))
    frame = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0"
    return encoded[:colors_end] + frame + encoded[colors_end:]


def gif(case, cases, blob):
    if "shape" not in case or len(case["shape"]) == 4 and case["shape"][0] == 1:
        return None
    encoded = blob(case["encoded"])
    first = 0
    if Image.open(io.BytesIO(encoded)).disposal_method == 3:
        assert encoded[10] & 128 and encoded[11] == 0, "the background is color 0"
        encoded, first = with_background_frame(encoded), 1
    image = Image.open(io.BytesIO(encoded))
    frames = []
    for i in range(image.n_frames):
        image.seek(i)
        frame = np.asarray(image.convert("RGBA"))
        frames.append(frame[..., :3] * (frame[..., 3:] != 0))  # transparent pixels are black
    return DISPOSAL, np.stack(frames[first:]) if len(case["shape"]) == 4 else frames[first]


def of_any(case, cases, blob):
    encoded = blob(case["encoded"])
    for magic, function in ((b"\x89PNG", png), (b"GIF8", gif), (b"BM", bmp)):
        if encoded.startswith(magic):
            return function(case, cases, blob)
    return None


def main():
    text = (HERE / "cases.json").read_text()
    stored = (HERE / "bytes.bin").read_bytes()
    cases = [c for c in json.loads(text)["cases"] if "encoded" in c]

    def blob(place):
        return stored[place[0]:place[0] + place[1]]
    lines = []
    for case in cases:
        function = {"decode_jpeg": jpeg, "decode_png": png, "decode_bmp": bmp, "decode_gif": gif, "decode_image": of_any}.get(case["call"])
        right = function(case, cases, blob) if function else None
        if right is None:
            continue
        why, pixels = right
        pixels = np.ascontiguousarray(pixels)
        crc = zlib.crc32(pixels.tobytes())
        if case.get("shape") == list(pixels.shape) and case["crc"] == crc:
            continue
        line = dict(call=case["call"], name=case["name"], encoded=case["encoded"], why=why, shape=list(pixels.shape), crc=crc)
        if case["call"] == "decode_jpeg":
            line["pixels"] = pixels.tobytes().hex()
        lines.append(json.dumps(line))
    (HERE / "corrections.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} corrections")


main()
