# SPDX-License-Identifier: Apache-2.0
"""Writes ArrayRecord files whose chunks state what the test wants, with hashes that are right: a reader that trusts hashes alone believes
them. See src/format/riegeli for the format."""
import struct

MASK = (1 << 64) - 1
BLOCK = 64 << 10
POSTSCRIPT = 0x71930E704FDAE05E


FRAME = b"\x28\xb5\x2f\xfd\x00\x58"  # a zstd frame that does not state its size, with a window of 2 MiB


def framed(data):
    """A zstd frame of some bytes, in a block that stores them."""
    return FRAME + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def zeros(n):
    """A zstd frame of n zeros: blocks of one repeated byte."""
    frame = bytearray(FRAME)
    while True:
        here = min(n, 128 << 10)
        n -= here
        frame += struct.pack("<I", here << 3 | 1 << 1 | (n == 0))[:3] + b"\0"
        if n == 0:
            return bytes(frame)


def rotated(x, n, bits):
    return (x << n % bits | x >> (bits - n % bits) % bits) & ((1 << bits) - 1) if n % bits else x


class Highway:
    """HighwayHash of 64 bits with the key of Riegeli, as in src/format/riegeli/highway_hash.cpp."""

    def __init__(self):
        key = (0x2F696C6567656952, 0x0A7364726F636572) * 2
        self.mul = [[0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3],
                    [0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377]]
        self.v = [[m ^ k for m, k in zip(self.mul[0], key)],
                  [m ^ rotated(k, 32, 64) for m, k in zip(self.mul[1], key)]]

    @staticmethod
    def merged(to, high, low):
        out = [0] * 16
        both = low.to_bytes(8, "little") + high.to_bytes(8, "little")
        for i, at in enumerate((3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7)):
            out[i] = both[at]
        to[0] = (to[0] + int.from_bytes(bytes(out[:8]), "little")) & MASK
        to[1] = (to[1] + int.from_bytes(bytes(out[8:]), "little")) & MASK

    def update(self, lanes):
        (v0, v1), (mul0, mul1) = self.v, self.mul
        for i in range(4):
            v1[i] = (v1[i] + mul0[i] + lanes[i]) & MASK
            mul0[i] ^= (v1[i] & 0xFFFFFFFF) * (v0[i] >> 32)
            v0[i] = (v0[i] + mul1[i]) & MASK
            mul1[i] ^= (v0[i] & 0xFFFFFFFF) * (v1[i] >> 32)
        for to, of in ((v0, v1), (v1, v0)):
            for half in (0, 2):
                pair = to[half:half + 2]
                self.merged(pair, of[half + 1], of[half])
                to[half:half + 2] = pair

    def rest(self, data):
        n, odd = len(data), len(data) % 4
        self.v[0] = [(v + (n << 32) + n) & MASK for v in self.v[0]]
        self.v[1] = [rotated(v & 0xFFFFFFFF, n, 32) | rotated(v >> 32, n, 32) << 32 for v in self.v[1]]
        padded = bytearray(32)
        padded[:n - odd] = data[:n - odd]
        last = data[n - odd:]
        if n & 16:
            padded[28:] = data[-4:]
        elif odd:
            padded[16:19] = bytes((last[0], last[odd >> 1], last[-1]))
        self.update(struct.unpack("<4Q", padded))


def highway_hash(data):
    state = Highway()
    while len(data) >= 32:
        state.update(struct.unpack("<4Q", data[:32]))
        data = data[32:]
    if data:
        state.rest(data)
    for _ in range(4):
        state.update([rotated(state.v[0][i], 32, 64) for i in (2, 3, 0, 1)])
    return (state.v[0][0] + state.v[1][0] + state.mul[0][0] + state.mul[1][0]) & MASK


def varint(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes((n,)))


class RiegeliFile:
    def __init__(self):
        self.data = bytearray()
        self.chunk(b"s", 0, 0, b"")

    def chunk(self, kind, records, decoded, data):
        header = struct.pack("<4Q", len(data), highway_hash(data), kind[0] | records << 8, decoded)
        rest = struct.pack("<Q", highway_hash(header)) + header + data
        begin = end = len(self.data)
        left = len(rest)
        while left:
            end += 24 * (end % BLOCK == 0)
            here = min(left, BLOCK - end % BLOCK)
            end, left = end + here, left - here
        while rest:
            if len(self.data) % BLOCK == 0:
                places = struct.pack("<2Q", len(self.data) - begin, end - len(self.data))
                self.data += struct.pack("<Q", highway_hash(places)) + places
            here = BLOCK - len(self.data) % BLOCK
            self.data += rest[:here]
            rest = rest[here:]
        return begin

    def stored(self, records, decoded=None):
        """A chunk of records as they are; it states `decoded` bytes."""
        sizes, values = b"".join(varint(len(r)) for r in records), b"".join(records)
        data = b"\0" + varint(len(sizes)) + sizes + values
        return self.chunk(b"r", len(records), len(values) if decoded is None else decoded, data)

    def packed(self, records, decoded):
        """A chunk by zstd: a record of `decoded` zeros, or many empty ones."""
        sizes = varint(decoded)
        sizes = varint(len(sizes)) + framed(sizes) if records == 1 else varint(records) + zeros(records)
        return self.chunk(b"r", records, decoded, b"z" + varint(len(sizes)) + sizes + varint(decoded) + zeros(decoded))

    def pad(self):
        n = -len(self.data) % BLOCK
        if n:
            self.chunk(b"p", 0, 0, bytes((n if n >= 40 else n + BLOCK - 24) - 40))

    def footer(self, chunks):
        """The messages of a footer. Each chunk: offset, decoded bytes, records."""
        about = b"\x08\x01\x10" + varint(len(chunks)) + b"\x18" + varint(sum(c[2] for c in chunks))
        return [b"\x0a" + varint(len(about)) + about] + [
            b"".join(bytes((8 * (i + 1),)) + varint(n) for i, n in enumerate(c)) for c in chunks]

    def ended(self, footer, postscript_decoded=None):
        """The bytes of the file, after the footer at this offset."""
        self.pad()
        self.stored([b"\x08" + varint(footer) + b"\x10" + varint(POSTSCRIPT)], postscript_decoded)
        self.pad()
        return bytes(self.data)
