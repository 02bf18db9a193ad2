# SPDX-License-Identifier: Apache-2.0
"""Public collections of images against their references. Each is skipped unless a variable names its folder:

    SLUICE_BMP_SUITE   bmpsuite 2.8 after `make`: g/, q/, b/ and html/ with the reference images
    SLUICE_PNG_SUITE   PngSuite: *.png, of which those that begin with x are damaged
    SLUICE_GIF_FILES   *.gif, compared with Pillow, which the running Python must have

SLUICE_TEST_LOUD=1 prints a line for each file. docs/internals/measurements.md has the counts.
"""
import collections
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, main, sluice

LOUD = os.environ.get("SLUICE_TEST_LOUD") == "1"
# No display is the correct one, or the reference is a photograph in another file.
BMP_WITHOUT_REFERENCE = {"q/pal1huffmsb.bmp", "q/rgb24jpeg.bmp", "q/rgb24png.bmp", "q/rgb24rle24.bmp", "q/rgba64.bmp"}
# References differ where the file sets no pixels; the other reference has the colors that a profile in the file changes.
BMP_WITH_OTHERS = {"q/rgb24prof2.bmp", "q/pal4rlecut.bmp", "q/pal8rlecut.bmp", "q/pal4rletrns.bmp", "q/pal8rletrns.bmp"}


def folder_of(variable):
    value = os.environ.get(variable)
    return pathlib.Path(value) if value else None


def decoded(path, expression):
    """The value of the expression for the file, or the error."""
    done = sluice("run", "--quiet", "--output", "jsonl", f'list_files("{path}") | map({expression})')
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def farthest(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return max(map(farthest, a, b), default=0) if len(a) == len(b) else 255
    return abs(a - b)


def visible(rgba):
    """The colors of pixels that cannot be seen are 0."""
    return [[pixel if pixel[3] else [0] * 4 for pixel in row] for row in rgba]


class Suites(ProgramTest):
    def report(self, name, counts):
        print(f"{name}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))

    @unittest.skipUnless(folder_of("SLUICE_BMP_SUITE"), "SLUICE_BMP_SUITE names no folder")
    def test_bmpsuite(self):
        root = folder_of("SLUICE_BMP_SUITE")
        references = collections.defaultdict(list)
        for row in re.findall(r"<tr.*?</tr>", (root / "html/bmpsuite.html").read_text(), re.DOTALL):
            name = re.search(r"<td[^>]*>([gqb]/\w[^<]*\.bmp)", row)
            if name:
                references[name[1]] += re.findall(r'<img[^>]*src="([^".]+\.png)"', row)
        counts = collections.Counter()
        for path in sorted(root.glob("[gqb]/*.bmp")):
            name = f"{path.parent.name}/{path.name}"
            got = decoded(path, "decode_bmp(read_file(it), 4)")
            if isinstance(got, str):
                counts[f"{name[0]} refused"] += 1
                self.assertIn("decode_bmp: ", got)
                self.assertTrue(name[0] == "b" or name in BMP_WITHOUT_REFERENCE, f"{name}: {got}")
                verdict = got
            elif name[0] == "b":
                counts["b decoded"] += 1
                verdict = "decoded"
            else:
                alike = [self.difference(got, root / "html" / r, name) for r in references[name]]
                verdict = min(alike)
                counts[f"{name[0]} " + ("equal" if verdict == 0 else "equal within 1" if verdict == 1 else "other pixels")] += 1
                self.assertTrue(verdict <= 1 or name in BMP_WITH_OTHERS, f"{name}: {verdict}")
            if LOUD:
                print(name, verdict)
        self.report("bmpsuite", counts)
        self.assertGreaterEqual(counts["g equal"] + counts["g equal within 1"], 27)

    @staticmethod
    def difference(got, reference, name):
        want = decoded(reference, "decode_png(read_file(it), 4)")
        if name == "q/rgb32fakealpha.bmp":  # its fourth bytes are alpha because 4 channels were requested
            got = [[[*pixel[:3], 255] for pixel in row] for row in got]
        return farthest(visible(got), visible(want))

    @unittest.skipUnless(folder_of("SLUICE_PNG_SUITE"), "SLUICE_PNG_SUITE names no folder")
    def test_pngsuite(self):
        counts = collections.Counter()
        for path in sorted(folder_of("SLUICE_PNG_SUITE").glob("*.png")):
            got = decoded(path, "shape(decode_png(read_file(it)))")
            damaged = path.name.startswith("x")
            counts[("damaged " if damaged else "") + ("refused" if isinstance(got, str) else "decoded")] += 1
            self.assertEqual(isinstance(got, str), damaged, f"{path.name}: {got}")
        self.report("PngSuite", counts)

    @unittest.skipUnless(folder_of("SLUICE_GIF_FILES"), "SLUICE_GIF_FILES names no folder")
    def test_gifs(self):
        import numpy
        from PIL import Image
        counts = collections.Counter()
        for path in sorted(folder_of("SLUICE_GIF_FILES").glob("*.gif")):
            got = decoded(path, 'decode_gif(read_file(it), "all")')
            try:
                frames = []
                with Image.open(path) as image:
                    for k in range(image.n_frames):
                        image.seek(k)
                        frame = numpy.asarray(image.convert("RGBA"))
                        frames.append(frame[..., :3] * (frame[..., 3:] != 0))
                want = numpy.stack(frames)
            except Exception as e:  # Pillow raises errors of many classes
                counts["refused by both" if isinstance(got, str) else "refused by Pillow"] += 1
                verdict = str(e)
            else:
                verdict = got if isinstance(got, str) else "equal" if numpy.array_equal(numpy.array(got, numpy.uint8), want) else "other"
                counts["refused by sluice" if isinstance(got, str) else verdict] += 1
            if LOUD and verdict != "equal":
                print(path.name, verdict)
        self.report("GIFs", counts)
        self.assertGreater(counts["equal"], 0)


if __name__ == "__main__":
    main()
