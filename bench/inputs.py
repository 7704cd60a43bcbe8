"""Makes the inputs from the base traces, once: they stay in the build folder."""

import gzip
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

from programs import BASES, SIZES

STEP = 1 << 20


class Inputs:
    """The files `<size>.<suffix>` of a folder."""

    def __init__(self, folder, bases, programs):
        """`bases` is the folder of the traces of tests, `programs` that of the generators."""
        self.folder = folder
        self.bases = bases
        self.programs = programs

    def path(self, size, suffix):
        return os.path.join(self.folder, '%s.%s' % (size, suffix))

    def base(self, suffix):
        """The base trace, compressed, from which inputs with this suffix are made."""
        return os.path.join(self.bases, BASES[suffix.removesuffix('.gz')].file)

    def uncompressed_bytes(self, size, suffix):
        return os.path.getsize(self.path(size, suffix.removesuffix('.gz')))

    def make(self, size, suffix, say):
        """Makes the input unless it is there. An interrupted run leaves no half-written one behind."""
        path = self.path(size, suffix)
        if os.path.exists(path):
            return
        if suffix.endswith('.gz'):
            self.make(size, suffix.removesuffix('.gz'), say)
        say('making the input %s' % os.path.basename(path))
        os.makedirs(self.folder, exist_ok=True)
        with replaced_when_done(path) as unfinished:
            if suffix.endswith('.gz'):
                compress(self.path(size, suffix.removesuffix('.gz')), unfinished)
            else:
                self.multiply(suffix, SIZES[size] * BASES[suffix].copies, unfinished)

    def multiply(self, suffix, copies, path):
        generator = 'multiply_json' if suffix == 'trace.json' else 'multiply_xspace'
        with tempfile.NamedTemporaryFile(dir=self.folder) as base:
            with gzip.open(self.base(suffix)) as compressed:
                shutil.copyfileobj(compressed, base)
            base.flush()
            subprocess.run([os.path.join(self.programs, generator), base.name, str(copies), path], check=True)

    def warm(self, size, suffix):
        """Reads the input once, so that the first program finds it in memory like the others."""
        with open(self.path(size, suffix), 'rb', buffering=0) as file:
            while file.read(STEP):
                pass


@contextmanager
def replaced_when_done(path):
    unfinished = path + '.part'
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def compress(source, target):
    """One deflate stream at the level that gzip takes by itself; the same bytes every time."""
    with open(source, 'rb') as text, open(target, 'wb') as file:
        with gzip.GzipFile(filename='', mode='wb', compresslevel=6, fileobj=file, mtime=0) as compressed:
            shutil.copyfileobj(text, compressed, STEP)
