#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes images/orientations.json: PNGs and WebPs with EXIF orientations, and the pixels of Pillow's ImageOps.exif_transpose.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow==13.0.0 numpy && /tmp/venv/bin/python tests/golden/make_orientations.py

One line for each file, with the bytes and pixels in hexadecimal digits. The script is deterministic.
"""
import io
import json
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

OUT = pathlib.Path(__file__).resolve().parent / "images" / "orientations.json"


def tiff(orientation, order="<", long=False, before=True):
    """A TIFF header and a directory with an entry of another tag and the orientation."""
    entries = [struct.pack(order + "HHI", 0x0100, 4, 1) + struct.pack(order + "I", 7)] if before else []
    value = struct.pack(order + "I", orientation) if long else struct.pack(order + "HH", orientation, 0)
    entries.append(struct.pack(order + "HHI", 0x0112, 4 if long else 3, 1) + value)
    mark = b"II" if order == "<" else b"MM"
    return mark + struct.pack(order + "HI", 42, 8) + struct.pack(order + "H", len(entries)) + b"".join(entries) + b"\0\0\0\0"


def chunk(kind, data, is_sound=True):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) ^ (not is_sound))


def png_with(image, exif, behind=False, is_sound=True):
    out = io.BytesIO()
    image.save(out, "PNG")
    plain = out.getvalue()
    at = plain.index(b"IEND" if behind else b"IDAT") - 4
    return plain[:at] + chunk(b"eXIf", exif, is_sound) + plain[at:]


def webp_with(image, exif):
    out = io.BytesIO()
    image.save(out, "WEBP", lossless=True, exif=exif)
    return out.getvalue()


def animation_with(images, exif):
    out = io.BytesIO()
    images[0].save(out, "WEBP", lossless=True, exif=exif, save_all=True, append_images=images[1:], duration=10)
    return out.getvalue()


def turned(encoded):
    image = Image.open(io.BytesIO(encoded))
    frames = []
    for i in range(getattr(image, "n_frames", 1)):
        image.seek(i)
        exif = image.getexif()
        frame = image.convert("RGB")
        frame.getexif()[0x0112] = exif.get(0x0112, 1)
        frames.append(np.asarray(ImageOps.exif_transpose(frame)))
    return np.stack(frames)


def main():
    values = np.random.default_rng(26)
    images = [Image.fromarray(values.integers(0, 256, (5, 7, 3), np.uint8)) for _ in range(2)]
    files = []
    for n in range(0, 10):
        files.append((f"png {n}", png_with(images[0], tiff(n))))
        files.append((f"webp {n}", webp_with(images[0], tiff(n))))
    for n in (3, 6, 7):
        files.append((f"png {n}, big-endian", png_with(images[0], tiff(n, ">"))))
        files.append((f"png {n}, behind the pixels", png_with(images[0], tiff(n), behind=True)))
        files.append((f"png {n}, as a long number", png_with(images[0], tiff(n, ">", long=True, before=False))))
        files.append((f"webp {n}, big-endian, as in a JPEG", webp_with(images[0], b"Exif\0\0" + tiff(n, ">"))))
        files.append((f"webp {n}, an animation", animation_with(images, tiff(n))))
    files.append(("png without a directory", png_with(images[0], b"II*\0\xff\xff\xff\xff")))
    files.append(("webp without a directory", webp_with(images[0], b"MM\0*\xff\xff\xff\xff")))
    lines = []
    for name, encoded in files:
        try:
            pixels = turned(encoded)
        except Exception:  # Pillow fails at some damaged directories, and the image is upright
            pixels = np.stack([np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"))])
        lines.append(json.dumps({"name": name, "encoded": encoded.hex(), "shape": list(pixels.shape),
                                 "pixels": pixels.tobytes().hex()}))
    broken = png_with(images[0], tiff(6), is_sound=False)  # as libpng, which drops chunks whose checksum is wrong
    pixels = np.asarray(images[0])
    lines.append(json.dumps({"name": "png 6 with a wrong checksum", "encoded": broken.hex(),
                             "shape": [1, *pixels.shape], "pixels": pixels.tobytes().hex()}))
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
