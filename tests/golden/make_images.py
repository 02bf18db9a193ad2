#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes images of every kind, and asks TensorFlow what is in them and what its transforms make of them.

    bench/compare/setup.sh && build/tf_venv/bin/pip install pillow==13.0.0 && build/tf_venv/bin/python tests/golden/make_images.py

Writes images/cases.json and images/bytes.bin, which has all that is not text: encoded files, and answers (zlib's format). Files
come from Pillow, TensorFlow and, where neither has the kind, from here (PNG of any depth, BMP, WAV). Answers are TensorFlow's;
of WAV other than 16 bits, which it does not read, and of EXIF, which it ignores, NumPy's and Pillow's. The script is
deterministic.
"""
import io
import itertools
import json
import os
import random
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from PIL import Image, ImageOps

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
SEED = 31
SIZES = [(1, 1), (1, 17), (17, 1), (5, 7), (8, 8), (9, 16), (15, 33), (31, 24), (40, 52)]  # height, width


class Store:
    """Blobs behind one another, equal ones once."""
    def __init__(self):
        self.bytes, self.places, self.cases = bytearray(), {}, []

    def put(self, blob):
        if blob not in self.places:
            self.places[blob] = [len(self.bytes), len(blob)]
            self.bytes += blob
        return self.places[blob]

    def case(self, **fields):
        self.cases.append({k: v for k, v in fields.items() if v is not None})


store = Store()


# --- pixels ----------------------------------------------------------------------------------------------------------

def pixels(height, width, channels, seed, maximum=255, dtype=np.uint8):
    """Waves with a little noise: neither flat nor hard to compress."""
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for _ in range(channels):
        a, b, phase = rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), rng.uniform(0, 6)
        planes.append(0.5 + 0.45 * np.sin(a * y + b * x + phase) + rng.uniform(-0.04, 0.04, (height, width)))
    return (np.clip(np.stack(planes, -1), 0, 1) * maximum).round().astype(dtype)


def synthetic(height, width, channels, dtype, seed):
    """What tests make again without a file: a hash of each value's index."""
    n = np.arange(height * width * channels, dtype=np.uint64) + np.uint64(seed) * np.uint64(1000003)
    with np.errstate(over="ignore"):
        n = (n ^ (n >> np.uint64(7))) * np.uint64(0x9e3779b97f4a7c15)
        n = (n ^ (n >> np.uint64(29))) * np.uint64(0xbf58476d1ce4e5b9)
    top = (n >> np.uint64(40)).astype(np.uint32)  # 24 bits
    if dtype == "uint8":
        values = (top >> 16).astype(np.uint8)
    elif dtype == "uint16":
        values = (top >> 8).astype(np.uint16)
    else:
        values = (top.astype(np.float32) / np.float32(1 << 24)).astype(np.float32)
    return values.reshape(height, width, channels)


# --- encoders of our own ---------------------------------------------------------------------------------------------

def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_rows(values, depth, rng):
    """Filtered rows of `values` [h, w, samples]. Filter 0, 1 or 2 at random where samples are whole bytes."""
    out, before = bytearray(), None
    for row in values:
        flat = row.reshape(-1)
        if depth == 16:
            line = flat.astype(">u2").tobytes()
        elif depth == 8:
            line = flat.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{depth}b") for v in flat)
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        step = max(1, values.shape[2] * depth // 8)
        kind = rng.choice([0, 1, 2]) if depth >= 8 else 0
        if kind == 1:
            coded = bytes((b - (line[i - step] if i >= step else 0)) & 255 for i, b in enumerate(line))
        elif kind == 2:
            coded = bytes((b - (before[i] if before else 0)) & 255 for i, b in enumerate(line))
        else:
            coded = line
        out += bytes([kind]) + coded
        before = line
    return bytes(out)


def png(values, depth, colour_type, interlaced=False, palette=None, transparent=None, gamma=None):
    height, width = values.shape[:2]
    rng = random.Random(height * 1000 + width)
    if interlaced:
        body = b""
        for y0, x0, dy, dx in [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]:
            part = values[y0::dy, x0::dx]
            if part.size:
                body += png_rows(part, depth, rng)
    else:
        body = png_rows(values, depth, rng)
    chunks = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced)))
    if gamma:
        chunks += png_chunk(b"gAMA", struct.pack(">I", gamma))
    if palette is not None:
        chunks += png_chunk(b"PLTE", palette.tobytes())
    if transparent is not None:
        chunks += png_chunk(b"tRNS", transparent)
    return b"\x89PNG\r\n\x1a\n" + chunks + png_chunk(b"IDAT", zlib.compress(body)) + png_chunk(b"IEND", b"")


def bmp(values, top_down=False, gap=0):
    """Blue first, rows of whole words; 1 channel: 8 bits, with a grey palette."""
    height, width, channels = values.shape
    stored = values[..., [2, 1, 0, 3][:channels]] if channels > 1 else values
    rows = [r.tobytes() + b"\0" * (-len(r.tobytes()) % 4) for r in (stored if top_down else stored[::-1])]
    palette = b"".join(bytes([i, i, i, 0]) for i in range(256)) if channels == 1 else b""
    at = 54 + len(palette) + gap
    head = b"BM" + struct.pack("<IHHI", at + sum(map(len, rows)), 0, 0, at)
    info = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, 8 * channels, 0, 0, 2835, 2835,
                       256 if channels == 1 else 0, 0)
    return head + info + palette + b"\0" * gap + b"".join(rows)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


# --- decoding --------------------------------------------------------------------------------------------------------

def answer(kind, encoded, o):
    if kind == "jpeg":
        crop = o.get("crop")
        settings = dict(channels=o.get("channels", 0), ratio=o.get("ratio", 1), fancy_upscaling=o.get("fancy", True),
                        try_recover_truncated=o.get("recover", False),
                        dct_method="INTEGER_ACCURATE" if o.get("accurate") else "INTEGER_FAST")
        return (tf.io.decode_and_crop_jpeg(encoded, crop, **settings) if crop else tf.io.decode_jpeg(encoded, **settings))
    if kind == "png":
        return tf.io.decode_png(encoded, channels=o.get("channels", 0), dtype=o.get("type", "uint8"))
    if kind == "bmp":
        return tf.io.decode_bmp(encoded, channels=o.get("channels", 0))
    if kind == "gif":
        return tf.io.decode_gif(encoded)
    if kind == "webp":
        return tf.io.decode_webp(encoded, channels=o.get("channels", 0))
    return tf.io.decode_image(encoded, channels=o.get("channels", 0), expand_animations=bool(o.get("all")))


def ask(name, kind, encoded, **options):
    """One case. Pixels are stored of JPEG, which may be off by one; of the others their checksum is enough."""
    case = dict(name=name, call="decode_" + kind, **options, encoded=store.put(encoded))
    try:
        made = np.ascontiguousarray(answer(kind, encoded, options).numpy())
        if kind == "webp" and not options.get("all"):
            made = made[0]  # TensorFlow always has frames
        case.update(shape=list(made.shape), crc=zlib.crc32(made.tobytes()))
        if encoded[:3] == b"\xff\xd8\xff":
            case.update(pixels=store.put(zlib.compress(made.tobytes(), 9)))
    except tf.errors.InvalidArgumentError as e:
        case.update(error=str(e).splitlines()[0].split("} ")[-1][:60])
    store.case(**case)


def jpegs():
    subsamplings = {0: "444", 1: "422", 2: "420"}
    files = []
    for i, (height, width) in enumerate(SIZES):
        for colours, sampling in itertools.product(("grey", "rgb"), (0, 1, 2)):
            if colours == "grey" and sampling != 0:
                continue
            image = Image.fromarray(pixels(height, width, 3, i) if colours == "rgb" else pixels(height, width, 1, i)[..., 0])
            for progressive in (False, True):
                options = {"subsampling": sampling} if colours == "rgb" else {}
                encoded = saved(image, "JPEG", quality=[30, 75, 95][i % 3], progressive=progressive, **options)
                name = f"{colours} {subsamplings[sampling]}{' progressive' if progressive else ''} {height}x{width}"
                files.append((name, encoded))
                ask(name, "jpeg", encoded)
    for i, (height, width) in enumerate([(5, 7), (16, 16), (23, 30)]):
        cmyk = Image.fromarray(pixels(height, width, 4, 50 + i), "CMYK")
        for progressive in (False, True):
            encoded = saved(cmyk, "JPEG", quality=90, progressive=progressive)
            ask(f"cmyk {'progressive ' if progressive else ''}{height}x{width}", "jpeg", encoded)
            ask(f"cmyk to rgb {height}x{width}", "jpeg", encoded, channels=3)
            ask(f"cmyk to grey {height}x{width}", "jpeg", encoded, channels=1)
        # Without Adobe's marker the numbers are not inverted.
        at = encoded.index(b"\xff\xee")
        size = struct.unpack(">H", encoded[at + 2:at + 4])[0]
        ask(f"cmyk without adobe {height}x{width}", "jpeg", encoded[:at] + encoded[at + 2 + size:])
    photo = Image.fromarray(pixels(37, 45, 3, 60))
    ask("rgb kept", "jpeg", saved(photo, "JPEG", keep_rgb=True))
    ask("restarts", "jpeg", saved(photo, "JPEG", restart_marker_blocks=3))
    ask("optimised", "jpeg", saved(photo, "JPEG", optimize=True))
    ask("with a comment and a profile", "jpeg", saved(photo, "JPEG", comment=b"hello", icc_profile=b"x" * 200))
    for fmt in ("grayscale", "rgb"):
        source = pixels(29, 34, 1 if fmt == "grayscale" else 3, 61)
        ask(f"by TensorFlow {fmt}", "jpeg", tf.io.encode_jpeg(source, fmt, quality=80).numpy())
        ask(f"by TensorFlow {fmt} all chroma", "jpeg",
            tf.io.encode_jpeg(source, fmt, quality=80, chroma_downsampling=False).numpy())
    by_name = dict(files)
    for name in ("rgb 420 31x24", "rgb 422 15x33", "rgb 444 progressive 40x52", "grey 444 40x52", "rgb 420 progressive 31x24"):
        encoded = by_name[name]
        for channels in (1, 3):
            ask(f"{name} as {channels}", "jpeg", encoded, channels=channels)
        for ratio in (2, 4, 8):
            ask(f"{name} / {ratio}", "jpeg", encoded, ratio=ratio)
        ask(f"{name} accurate", "jpeg", encoded, accurate=True)
        ask(f"{name} plain upscaling", "jpeg", encoded, fancy=False)
        height, width = Image.open(io.BytesIO(encoded)).size[::-1]
        for box in ([0, 0, height, width], [0, 0, 5, 6], [height - 4, width - 3, 4, 3], [7, 9, 6, 11], [3, 0, 9, width],
                    [0, 5, height, 8]):
            ask(f"{name} box {box}", "jpeg", encoded, crop=box)
        ask(f"{name} box outside", "jpeg", encoded, crop=[0, 0, height + 1, 1])
        for part in (0.3, 0.6, 0.9):
            cut = encoded[:int(len(encoded) * part)]
            ask(f"{name} cut at {part}", "jpeg", cut)
            ask(f"{name} cut at {part}, recovered", "jpeg", cut, recover=True)
        ask(f"{name} without its end", "jpeg", encoded[:-2])
        ask(f"{name} with bytes behind it", "jpeg", encoded + b"more")
        ask(f"{name} by decode_image", "image", encoded)
    exifs()
    return by_name


def exifs():
    for orientation in range(1, 9):
        image = Image.fromarray(pixels(16, 24, 3, 70 + orientation))
        exif = Image.Exif()
        exif[0x0112] = orientation
        encoded = saved(image, "JPEG", quality=90, exif=exif.tobytes())
        ask(f"exif {orientation}", "jpeg", encoded)
        flat = Image.fromarray(tf.io.decode_jpeg(encoded).numpy())
        flat.info["exif"] = exif.tobytes()
        turned = np.asarray(ImageOps.exif_transpose(flat))
        store.case(name=f"exif {orientation} applied", call="decode_jpeg", oriented=True, encoded=store.put(encoded),
                   shape=list(turned.shape), pixels=store.put(zlib.compress(turned.tobytes(), 9)))


def png_kinds(height, width, seed):
    """Every colour type and depth: (name, arguments of png())."""
    for depth in (1, 2, 4, 8, 16):
        grey = pixels(height, width, 1, seed, (1 << depth) - 1, np.uint16)
        yield f"grey {depth}", dict(values=grey, depth=depth, colour_type=0)
        yield f"grey {depth} with a transparent one", dict(values=grey, depth=depth, colour_type=0,
                                                          transparent=struct.pack(">H", int(grey[0, 0, 0])))
    for depth in (8, 16):
        rgb = pixels(height, width, 3, seed + 1, (1 << depth) - 1, np.uint16)
        yield f"rgb {depth}", dict(values=rgb, depth=depth, colour_type=2)
        yield f"rgb {depth} with a transparent one", dict(values=rgb, depth=depth, colour_type=2,
                                                         transparent=struct.pack(">HHH", *map(int, rgb[0, 0])))
        yield f"grey and alpha {depth}", dict(values=pixels(height, width, 2, seed + 2, (1 << depth) - 1, np.uint16), depth=depth,
                                              colour_type=4)
        yield f"rgba {depth}", dict(values=pixels(height, width, 4, seed + 3, (1 << depth) - 1, np.uint16), depth=depth,
                                    colour_type=6)
    for depth in (1, 2, 4, 8):
        colours = min(1 << depth, 40)
        palette = pixels(1, colours, 3, seed + 4)
        index = pixels(height, width, 1, seed + 5, colours - 1, np.uint16)
        yield f"palette {depth}", dict(values=index, depth=depth, colour_type=3, palette=palette)
        yield f"palette {depth} with alphas", dict(values=index, depth=depth, colour_type=3, palette=palette,
                                                   transparent=bytes(range(0, 255, 60))[:colours])


def pngs():
    files = {}
    for i, (height, width) in enumerate([(9, 13), (17, 6)]):
        for name, kind in png_kinds(height, width, 100 * i):
            for interlaced in (False, True):
                encoded = png(**kind, interlaced=interlaced)
                title = f"{name}{' interlaced' if interlaced else ''} {height}x{width}"
                files[title] = encoded
                ask(title, "png", encoded)
                if i == 0 and not interlaced:
                    for channels, dtype in itertools.product((0, 1, 3, 4), ("uint8", "uint16")):
                        if (channels, dtype) != (0, "uint8"):
                            ask(f"{title} as {channels} of {dtype}", "png", encoded, channels=channels, type=dtype)
                if i == 1:
                    ask(f"{title} of uint16", "png", encoded, type="uint16")
    for i, (height, width) in enumerate(SIZES):
        for mode, channels in (("L", 1), ("RGB", 3), ("RGBA", 4)):
            values = pixels(height, width, channels, 200 + i)
            encoded = saved(Image.fromarray(values[..., 0] if channels == 1 else values, mode), "PNG")
            ask(f"by Pillow {mode} {height}x{width}", "png", encoded)
            if i == 7:
                ask(f"by Pillow {mode} by decode_image", "image", encoded)
    ask("with a gamma", "png", png(pixels(9, 13, 3, 210), 8, 2, gamma=22000))
    for dtype, channels in itertools.product(("uint8", "uint16"), (1, 2, 3, 4)):
        values = synthetic(6, 9, channels, dtype, 5)
        ask(f"by TensorFlow {dtype} {channels}", "png", tf.io.encode_png(values).numpy(), type=dtype)
    whole = files["rgb 8 17x6"]
    for part in (0.1, 0.3, 0.6, 0.9, 0.99):
        ask(f"cut at {part}", "png", whole[:int(len(whole) * part)])
    rng = random.Random(SEED)
    for i in range(16):
        at = rng.randrange(8, len(whole))
        ask(f"byte {at} damaged", "png", whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1:])
    ask("without IEND", "png", whole[:-12])
    ask("with bytes behind it", "png", whole + b"more")


def bmps():
    for i, (height, width) in enumerate(SIZES):
        for channels in (1, 3, 4):
            values = pixels(height, width, channels, 300 + i)
            encoded = bmp(values)
            ask(f"{channels} {height}x{width}", "bmp", encoded)
            if i in (3, 6):
                ask(f"{channels} top-down {height}x{width}", "bmp", bmp(values, top_down=True))
                for wanted in (3, 4):
                    ask(f"{channels} {height}x{width} as {wanted}", "bmp", encoded, channels=wanted)
                ask(f"{channels} {height}x{width} by decode_image", "image", encoded)
        if i in (3, 7):
            ask(f"by Pillow {height}x{width}", "bmp", saved(Image.fromarray(pixels(height, width, 3, 320)), "BMP"))
    whole = bmp(pixels(5, 7, 3, 330))
    ask("with a gap before the pixels", "bmp", bmp(pixels(5, 7, 3, 331), gap=12))
    ask("with bytes behind it", "bmp", whole + b"more")
    for size in (10, 30, 53, 60, len(whole) - 1):
        ask(f"cut at {size}", "bmp", whole[:size])


def gifs():
    rng = random.Random(SEED)
    files = {}
    for i, (height, width) in enumerate(SIZES + [(70, 33)]):
        for interlace in (0, 1):
            image = Image.fromarray(pixels(height, width, 3, 400 + i)).quantize(16 if i % 2 else 200)
            encoded = saved(image, "GIF", interlace=interlace)
            files[i, interlace] = encoded
            ask(f"{'interlaced ' if interlace else ''}{height}x{width}", "gif", encoded)
    for i, (disposal, optimise) in enumerate(itertools.product((0, 1, 2, 3), (False, True))):
        frames = []
        base = pixels(21, 26, 3, 420)
        for _ in range(4):
            base = base.copy()
            y, x = rng.randrange(14), rng.randrange(18)
            base[y:y + 6, x:x + 7] = rng.randrange(256)
            frames.append(Image.fromarray(base).quantize(60))
        encoded = saved(frames[0], "GIF", save_all=True, append_images=frames[1:], disposal=disposal, optimize=optimise,
                        duration=50, loop=0)
        ask(f"animated, disposal {disposal}{', optimised' if optimise else ''}", "gif", encoded)
        ask(f"animated, disposal {disposal} by decode_image", "image", encoded, all=True)
    clear = [Image.fromarray(pixels(12, 15, 4, 430 + i) & 0xc0, "RGBA") for i in range(3)]
    ask("animated and transparent", "gif", saved(clear[0], "GIF", save_all=True, append_images=clear[1:], duration=50))
    ask("transparent", "gif", saved(clear[1], "GIF"))
    # A frame that is smaller than the canvas, at (3, 2); and one that reaches out of it.
    small = bytearray(files[3, 0])
    at = small.index(b",", 13 + 3 * 16)
    for title, canvas, left_top in (("a first frame that is smaller", (20, 16), (3, 2)), ("a frame that reaches out", (6, 4), (3, 2))):
        moved = bytearray(small)
        moved[6:10] = struct.pack("<HH", *canvas)
        moved[at + 1:at + 5] = struct.pack("<HH", *left_top)
        ask(title, "gif", bytes(moved))
    whole = files[7, 0]
    for part in (0.1, 0.5, 0.95):
        ask(f"cut at {part}", "gif", whole[:int(len(whole) * part)])
    ask("without its end", "gif", whole[:-1])
    ask("with bytes behind it", "gif", whole + b"more")


def told(name, encoded, mode, **options):
    """Pillow's answer, where TensorFlow has none."""
    image = Image.open(io.BytesIO(encoded))
    frames = []
    for i in range(getattr(image, "n_frames", 1)):
        image.seek(i)
        frames.append(np.asarray(image.convert("RGBA"))[..., :len(mode)])
    made = np.ascontiguousarray(np.stack(frames) if options.get("all") else frames[0])
    store.case(name=name, call="decode_webp", **options, encoded=store.put(encoded), shape=list(made.shape), crc=zlib.crc32(made.tobytes()))


def webps():
    for i, (height, width) in enumerate(SIZES):
        for mode, channels in (("RGB", 3), ("RGBA", 4)):
            values = pixels(height, width, channels, 500 + i)
            image = Image.fromarray(values, mode)
            encoded = saved(image, "WEBP", lossless=True, exact=True, method=i % 7)
            ask(f"lossless {mode} {height}x{width}", "webp", encoded)
            if i in (3, 6):
                other = 7 - channels
                told(f"lossless {mode} {height}x{width} as {other}", encoded, "RGB" if other == 3 else "RGBA", channels=other)
                ask(f"lossless {mode} {height}x{width} by decode_image", "image", encoded)
            ask(f"lossy {mode} {height}x{width}", "webp", saved(image, "WEBP", quality=[20, 60, 90][i % 3]))
    for mode, channels in (("RGB", 3), ("RGBA", 4)):
        frames = [Image.fromarray(pixels(18, 23, channels, 520 + i), mode) for i in range(3)]
        encoded = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True, duration=40)
        told(f"animated {mode}", encoded, mode, all=True)
        if mode == "RGBA":  # of RGB TensorFlow 2.21 writes beyond its memory
            ask(f"animated {mode} by TensorFlow", "webp", encoded, all=True, channels=4)
    whole = saved(Image.fromarray(pixels(31, 24, 3, 530)), "WEBP", lossless=True)
    for part in (0.01, 0.1, 0.5, 0.95):
        ask(f"cut at {part}", "webp", whole[:int(len(whole) * part)])


def strangers():
    for name, encoded in (("nothing", b""), ("a text", b"this is not an image, is it?"), ("only a JPEG's mark", b"\xff\xd8\xff"),
                          ("only a PNG's mark", b"\x89PNG\r\n\x1a\n"), ("only a GIF's mark", b"GIF89a"), ("only BM", b"BM"),
                          ("only a WebP's mark", b"RIFF\4\0\0\0WEBP")):
        ask(name, "image", encoded)


# --- transforms ------------------------------------------------------------------------------------------------------

def keep(name, call, source, made, **fields):
    """Stores every `step`-th value, so that large results stay small here."""
    made = np.ascontiguousarray(made)
    step = max(1, made.size // 397)
    while step % 2 == 0 or step % 3 == 0 and step > 1:
        step += 1
    store.case(name=name, call=call, source=source, shape=list(made.shape), type=str(made.dtype), step=step,
               values=store.put(zlib.compress(made.reshape(-1)[::step].tobytes(), 9)), **fields)


def resizes():
    seed = 0
    shapes = [((5, 4), (13, 11)), ((13, 11), (5, 4)), ((37, 29), (20, 64)), ((64, 20), (9, 7)), ((1, 1), (3, 2)), ((2, 3), (1, 1)),
              ((40, 52), (40, 26)), ((33, 33), (33, 33)), ((100, 75), (31, 32)), ((7, 60), (21, 6)), ((30, 40), (224, 224))]
    for method, antialias in (("nearest", False), ("bilinear", False), ("bilinear", True), ("area", False), ("bicubic", False),
                              ("bicubic", True)):
        for (size, wanted), channels in zip(shapes, itertools.cycle((3, 1, 4, 2, 3))):
            for dtype in ("uint8", "float32"):
                seed += 1
                source = [*size, channels, dtype, seed]
                values = synthetic(*source)
                made = tf.image.resize(values, wanted, method=method, antialias=antialias).numpy()
                keep(f"{method}{' antialias' if antialias else ''} {size}→{wanted} {dtype}", "resize", source, made, method=method,
                     antialias=antialias, size=list(wanted))
        made = tf.image.resize(synthetic(31, 47, 3, "uint8", 1), (20, 20), method=method, antialias=antialias,
                               preserve_aspect_ratio=True).numpy()
        keep(f"{method} keeping its form", "resize", [31, 47, 3, "uint8", 1], made, method=method, antialias=antialias, size=[20, 20],
             preserve=True)
    made = tf.image.resize(synthetic(20, 30, 3, "uint16", 9), (9, 9)).numpy()
    keep("bilinear of uint16", "resize", [20, 30, 3, "uint16", 9], made, method="bilinear", antialias=False, size=[9, 9])


def parts():
    for i, (size, channels, dtype) in enumerate([((9, 14), 3, "uint8"), ((16, 5), 1, "uint8"), ((7, 7), 4, "uint16"),
                                                 ((11, 12), 3, "float32"), ((6, 10), 2, "uint8")]):
        source = [*size, channels, dtype, 300 + i]
        values = synthetic(*source)
        keep(f"flip {source}", "flip_left_right", source, tf.image.flip_left_right(values).numpy())
        keep(f"flip {source}", "flip_up_down", source, tf.image.flip_up_down(values).numpy())
        for fraction in (0.1, 0.25, 0.5, 0.7, 0.875, 0.99, 1.0):
            keep(f"central_crop {source} {fraction}", "central_crop", source, tf.image.central_crop(values, fraction).numpy(),
                 fraction=fraction)
        box = [1, 2, size[0] - 3, size[1] - 2]
        keep(f"crop {source}", "crop", source, tf.image.crop_to_bounding_box(values, *box).numpy(), box=box)


def colours():
    asked = {"brightness": (tf.image.adjust_brightness, (-0.4, 0.13, 0.7)), "contrast": (tf.image.adjust_contrast, (0.0, 0.5, 1.7, 3)),
             "saturation": (tf.image.adjust_saturation, (0.0, 0.4, 1.6, 5)), "hue": (tf.image.adjust_hue, (-0.5, -0.13, 0.25, 0.5))}
    seed = 400
    for kind, (function, amounts) in asked.items():
        for amount, dtype in itertools.product(amounts, ("uint8", "float32", "uint16")):
            seed += 1
            source = [10, 13, 3, dtype, seed]
            try:
                keep(f"{kind} {amount} {dtype}", "adjust_" + kind, source, function(synthetic(*source), amount).numpy(), amount=amount)
            except tf.errors.InvalidArgumentError:
                pass  # some kernels have no uint16
    grey = [9, 9, 1, "uint8", seed + 1]
    keep("contrast of grey", "adjust_contrast", grey, tf.image.adjust_contrast(synthetic(*grey), 1.4).numpy(), amount=1.4)


# --- sound -----------------------------------------------------------------------------------------------------------

def wav(samples, kind, rate=16000, extra=b"", extensible=False, odd=False):
    """`samples`: float64 [n, channels] in [-1, 1]; kind: u8, i16, i24, i32, f32, f64. Returns the file and what it holds."""
    bits = int(kind[1:])
    if kind == "u8":
        whole = np.clip(np.round(samples * 128 + 128), 0, 255).astype(np.uint8)
        data, held = whole.tobytes(), (whole.astype(np.float32) - 128) / 128
    elif kind[0] == "f":
        stored = samples.astype("<f" + str(bits // 8))
        data, held = stored.tobytes(), stored.astype(np.float32)
    else:
        most = 1 << (bits - 1)
        whole = np.clip(np.round(samples * most), -most, most - 1).astype(np.int64)
        data = b"".join(int(v).to_bytes(bits // 8, "little", signed=True) for v in whole.reshape(-1))
        held = (whole / most).astype(np.float32)
    channels = samples.shape[1]
    form = 3 if kind[0] == "f" else 1
    block = channels * bits // 8
    head = struct.pack("<HHIIHH", 0xfffe if extensible else form, channels, rate, rate * block, block, bits)
    if extensible:
        head += struct.pack("<HHIH", 22, bits, 0, form) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head + extra + b"data" + struct.pack("<I", len(data)) + data
    if len(data) % 2:
        body += b"\0"
    return b"RIFF" + struct.pack("<I", len(body)) + body, held.reshape(-1, channels)


def wavs():
    rng = np.random.RandomState(SEED)
    for kind, channels, length in itertools.product(("u8", "i16", "i24", "i32", "f32", "f64"), (1, 2, 3), (1, 33, 100)):
        samples = np.clip(rng.normal(0, 0.4, (length, channels)), -1, 1)
        for extensible in (False, True):
            encoded, held = wav(samples, kind, 8000 if channels == 2 else 44100, extensible=extensible,
                                extra=b"LIST" + struct.pack("<I", 6) + b"hello\0" if length == 33 else b"")
            rate = 8000 if channels == 2 else 44100
            title = f"{kind} {channels} x {length}{' extensible' if extensible else ''}"
            if kind == "i16" and not extensible:
                audio, told = tf.audio.decode_wav(encoded)
                assert int(told) == rate and np.array_equal(audio.numpy(), held), title
            store.case(name=title, call="decode_wav", encoded=store.put(encoded), rate=rate, shape=list(held.shape),
                       values=store.put(zlib.compress(held.astype("<f4").tobytes(), 9)))
    encoded, held = wav(np.clip(rng.normal(0, 0.4, (50, 2)), -1, 1), "i16")
    for wanted_channels, wanted_samples in ((1, -1), (3, -1), (-1, 20), (-1, 70), (1, 60)):
        audio, told = tf.audio.decode_wav(encoded, desired_channels=wanted_channels, desired_samples=wanted_samples)
        store.case(name=f"as {wanted_channels} x {wanted_samples}", call="decode_wav", encoded=store.put(encoded), rate=int(told),
                   channels=max(0, wanted_channels), samples=max(0, wanted_samples), shape=list(audio.shape),
                   values=store.put(zlib.compress(audio.numpy().tobytes(), 9)))


def main():
    os.makedirs(HERE, exist_ok=True)
    jpegs()
    pngs()
    bmps()
    gifs()
    webps()
    strangers()
    resizes()
    parts()
    colours()
    wavs()
    with open(os.path.join(HERE, "bytes.bin"), "wb") as out:
        out.write(store.bytes)
    lines = ",\n".join(json.dumps(c) for c in store.cases)
    with open(os.path.join(HERE, "cases.json"), "w") as out:
        out.write('{"tensorflow": "%s", "cases": [\n%s\n]}\n' % (tf.__version__, lines))
    images = {tuple(c["encoded"]) for c in store.cases if c["call"] != "decode_wav" and "encoded" in c}
    print(f"{len(store.cases)} cases, {len(images)} images, {len(store.bytes):,} bytes; "
          f"{sum('error' in c for c in store.cases)} errors")


main()
