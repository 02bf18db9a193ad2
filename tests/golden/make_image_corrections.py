#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the recorded images that TensorFlow decodes wrongly, and writes the correct pixels and the reason.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow==13.0.0 numpy && /tmp/venv/bin/python tests/golden/make_image_corrections.py

Reads images/cases.json and images/bytes.bin (make_images.py). Writes images/corrections.json, one line for each such case.
The correct pixels are a part of TensorFlow's own whole image (crops of JPEG) or Pillow's pixels (BMP and GIF). Recorded
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


def gif(case, cases, blob):
    if "shape" not in case or len(case["shape"]) == 4 and case["shape"][0] == 1:
        return None
    image = Image.open(io.BytesIO(blob(case["encoded"])))
    frames = []
    for i in range(image.n_frames if len(case["shape"]) == 4 else 1):
        image.seek(i)
        frame = np.asarray(image.convert("RGBA"))
        frames.append(frame[..., :3] * (frame[..., 3:] != 0))  # transparent pixels are black
    return DISPOSAL, np.stack(frames) if len(case["shape"]) == 4 else frames[0]


def of_any(case, cases, blob):
    encoded = blob(case["encoded"])
    return gif(case, cases, blob) if encoded[:4] == b"GIF8" else bmp(case, cases, blob) if encoded[:2] == b"BM" else None


def main():
    text = (HERE / "cases.json").read_text()
    stored = (HERE / "bytes.bin").read_bytes()
    cases = [c for c in json.loads(text)["cases"] if "encoded" in c]

    def blob(place):
        return stored[place[0]:place[0] + place[1]]
    lines = []
    for case in cases:
        function = {"decode_jpeg": jpeg, "decode_bmp": bmp, "decode_gif": gif, "decode_image": of_any}.get(case["call"])
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
