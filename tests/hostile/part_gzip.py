"""Gzip: damaged in every way, of many members, and bombs of up to 10 GB."""

from __future__ import annotations

import functools
import gzip
import pathlib
import zlib
from typing import Callable

from cases import Case, Cases, Settings, case_of_file
from traces import BYTES, Event, Process, Thread, chrome_trace, tag, varint, waiting_pipeline

HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
MEGABYTE = 1 << 20
GIGABYTE = 1 << 30
CRC_POLYNOMIAL = 0xEDB88320


def crc_product(left: int, right: int) -> int:
    """Of two polynomials over GF(2), modulo that of CRC-32; the highest bit is the constant term."""
    product = 0
    for bit in range(31, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = right >> 1 ^ (CRC_POLYNOMIAL if right & 1 else 0)
    return product


@functools.cache
def crc_shift(length: int) -> int:
    """What a CRC is multiplied with when `length` bytes follow."""
    power, shift = 1 << 23, 1 << 31  # x^8, 1
    while length:
        if length & 1:
            shift = crc_product(power, shift)
        power = crc_product(power, power)
        length >>= 1
    return shift


def combined_crc(first: int, second: int, second_length: int) -> int:
    return crc_product(crc_shift(second_length), first) ^ second


class GzipStream:
    """One member that is written piece by piece, and of which a piece can be repeated at no cost."""

    def __init__(self) -> None:
        self.parts: list[bytes] = [HEADER]
        self.crc = 0
        self.length = 0

    def add(self, piece: bytes, count: int = 1) -> GzipStream:
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        self.parts += [deflater.compress(piece) + deflater.flush(zlib.Z_FULL_FLUSH)] * count
        crc = zlib.crc32(piece)
        for _ in range(count):
            self.crc = combined_crc(self.crc, crc, len(piece))
        self.length += len(piece) * count
        return self

    def write(self, path: pathlib.Path) -> None:
        end = b"\x03\x00" + self.crc.to_bytes(4, "little") + (self.length % (1 << 32)).to_bytes(4, "little")
        with open(path, "wb") as file:
            file.writelines([*self.parts, end])


def small_trace() -> bytes:
    threads = [Thread("main", waiting_pipeline(["Map"], 1, 20)), Thread("other", [Event("op", 1, 2)])]
    return chrome_trace([Process("/host:CPU", threads)])


def with_header(flags: int, extra: bytes) -> bytes:
    """A sound file with optional fields in its header."""
    return HEADER[:3] + bytes([flags]) + HEADER[4:] + extra + gzip.compress(small_trace(), mtime=0)[10:]


def damaged_files() -> dict[str, bytes]:
    whole = gzip.compress(small_trace(), mtime=0)
    empty = gzip.compress(b"", mtime=0)
    half = len(whole) // 2
    return {
        "magic-alone": whole[:2],
        "header-cut": whole[:7],
        "header-alone": whole[:10],
        "truncated": whole[:half],
        "without-trailer": whole[:-8],
        "trailer-cut": whole[:-3],
        "wrong-crc": whole[:-8] + bytes(4) + whole[-4:],
        "wrong-size": whole[:-4] + b"\xff\xff\xff\xff",
        "flipped-bytes": whole[:half] + bytes(byte ^ 0x55 for byte in whole[half : half + 20]) + whole[half + 20 :],
        "trailing-garbage": whole + b"garbage" * 100,
        "trailing-zeros": whole + bytes(100_000),
        "trailing-half-member": whole + whole[:half],
        "two-members": gzip.compress(small_trace()[:500], mtime=0) + gzip.compress(small_trace()[500:], mtime=0),
        "member-a-byte": b"".join(gzip.compress(bytes([byte]), 1, mtime=0) for byte in small_trace()),
        "empty": empty,
        "empty-members-300000": empty * 300_000,
        "empty-members-before": empty * 300_000 + whole,
        "name-without-end": HEADER[:3] + b"\x08" + HEADER[4:] + b"a" * (8 * MEGABYTE),
        "long-name": with_header(0x08, b"a" * (8 * MEGABYTE) + b"\x00"),
        "extra-field": with_header(0x04, b"\xff\xff" + b"x" * 0xFFFF),
        "header-crc-wrong": with_header(0x02, b"\x00\x00"),
        "unknown-method": HEADER[:2] + b"\x07" + whole[3:],
        "reserved-flags": with_header(0xE0, b""),
        "twice-compressed": gzip.compress(whole, mtime=0),
        "stored-blocks": HEADER + b"\x00\x00\x00\xff\xff" * 1_000_000,
    }


def equal_events() -> bytes:
    """Events of one name at one time."""
    args = b'{"id":"1","long_name":"Iterator::Root"}'
    one = b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"Iterator::Root","args":' + args + b"},"
    return one * 8_000


def bombs() -> dict[str, Callable[[], GzipStream]]:
    """Of at most 10 MB each."""
    begin = b'{"traceEvents":['
    zeros, blanks = bytes(MEGABYTE), b" " * MEGABYTE
    field = tag(7, BYTES) + varint(10 * GIGABYTE)
    return {
        "bomb-10-gb-of-zeros": lambda: GzipStream().add(zeros, 10 * 1024),
        "bomb-10-gb-of-blanks": lambda: GzipStream().add(begin).add(blanks, 10 * 1024).add(b"]}"),
        "bomb-10-gb-blanks-alone": lambda: GzipStream().add(blanks, 10 * 1024),
        "bomb-10-gb-unknown-field": lambda: GzipStream().add(field).add(zeros, 10 * 1024),
        "bomb-2-gb-string": lambda: (
            GzipStream().add(begin + b'{"ph":"X","name":"').add(b"a" * MEGABYTE, 2048).add(b'"}]}')
        ),
        "bomb-2-gb-key": lambda: GzipStream().add(b'{"').add(b"a" * MEGABYTE, 2048).add(b'":1}'),
        "bomb-1-gb-of-brackets": lambda: GzipStream().add(begin).add(b"[" * MEGABYTE, 1024),
        "bomb-1-gb-of-digits": lambda: GzipStream().add(begin + b'{"ts":').add(b"1" * MEGABYTE, 1024).add(b"}]}"),
        "bomb-6.4-million-equal-events": lambda: GzipStream().add(begin).add(equal_events(), 800).add(b"{}]}"),
        "bomb-of-bombs": lambda: GzipStream().add(gzip.compress(zeros * 64, mtime=0), 100),
    }


def case_of_bomb(program: str, name: str, stream: Callable[[], GzipStream]) -> Case:
    ending = ".xplane.pb.gz" if "field" in name else ".trace.json.gz"
    return case_of_file(program, name, ending, lambda path: stream().write(path))


def write_bytes(content: bytes, path: pathlib.Path) -> None:
    path.write_bytes(content)


def cases(settings: Settings) -> Cases:
    for name, content in damaged_files().items():
        yield case_of_file(settings.program, name, ".trace.json.gz", functools.partial(write_bytes, content))
    for name, stream in bombs().items():
        yield case_of_bomb(settings.program, name, stream)
