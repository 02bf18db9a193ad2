# SPDX-License-Identifier: Apache-2.0
"""Images on the command line: decoded and changed by the text of a plan, written as PNG files by head --images."""
import os
import pathlib
import struct
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, lines_of, main, sluice

HAS_IMAGES = "decode_png" in sluice("ops").stdout


def png(width, height, pixel):
    """RGB, 8 bits."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def size_of(path):
    data = pathlib.Path(path).read_bytes()
    assert data.startswith(b"\x89PNG")
    return struct.unpack(">II", data[16:24])


@unittest.skipUnless(HAS_IMAGES, "this program has no images")
class Images(ProgramTest):
    def setUp(self):
        super().setUp()
        for k in range(3):
            pathlib.Path(self.path(f"{k}.png")).write_bytes(png(20, 10, lambda x, y: (x * 12, y * 25, k * 100)))
        self.plan = f'list_files("{self.folder.name}/*.png") | map({{name: it, image: decode_png(read_file(it))}})'

    def test_head_writes_images_and_prints_their_paths(self):
        out = self.path("look/here")
        done = self.ok("head", "--images", out, self.plan + " | map({image, small: resize(image, 4, 6), grey: cast(image, \"float32\") / 255})")
        lines = lines_of(done)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[1], {"image": out + "/000001-image.png", "small": out + "/000001-small.png", "grey": out + "/000001-grey.png"})
        self.assertEqual(size_of(lines[2]["image"]), (20, 10))
        self.assertEqual(size_of(lines[2]["small"]), (6, 4))
        again = lines_of(self.ok("head", f'list_files("{out}/000001-image.png") | map(shape(decode_png(read_file(it))))'))
        self.assertEqual(again, [[10, 20, 3]])
        self.assertEqual(len(os.listdir(out)), 9)

    def test_what_is_no_image_is_printed(self):
        lines = lines_of(self.ok("head", "--images", self.path("out"), self.plan + " | map({name, mean: mean(image), shape: shape(image), row: image[0][0]})"))
        self.assertEqual(lines[0]["shape"], [10, 20, 3])
        self.assertEqual(lines[2]["row"], [0, 0, 200])

    def test_batches_and_bad_folders_are_refused(self):
        self.assertIn("| unbatch()", self.fails(2, "head", "--images", self.path("out"), self.plan + " | batch(2)"))
        self.assertIn("cannot create the folder", self.fails(2, "head", "--images", self.path("0.png"), self.plan))

    def test_a_damaged_image_is_an_error_with_its_element(self):
        pathlib.Path(self.path("1.png")).write_bytes(b"\x89PNG\r\n\x1a\nnothing")
        self.assertIn("at element 1", self.fails(1, "run", "--quiet", self.plan))
        kept = self.ok("run", "--quiet", "--output", "jsonl", self.plan + ' | map(shape(image))', "--on-error", "skip")
        self.assertEqual(kept.stdout.splitlines(), ["[10,20,3]"] * 2)


if __name__ == "__main__":
    main()
