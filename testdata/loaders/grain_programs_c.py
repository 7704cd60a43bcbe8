"""A third set, recorded after everything was built."""
import time
import grain, numpy as np, json
from grain import python as pygrain
import grain_programs
from grain_programs_b import loader, OnlyX, Parquet

class Slow:
    def __len__(self): return 9000
    def __getitem__(self, i):
        time.sleep(0.003)
        return np.full((32,), i, np.float32)

class Texts:
    def __len__(self): return 9000
    def __getitem__(self, i): return "word " * 40 + str(i)

def parse_text(text):
    counts = {}
    for _ in range(60):
        for word in text.split():
            counts[word] = counts.get(word, 0) + len(word)
    return np.full((32,), sum(counts.values()), np.float32)

def to_row(text): return np.full((32,), len(text), np.float32)

class Vowels(pygrain.FilterTransform):
    def filter(self, e):
        n = 0
        for k in range(40_000): n ^= k
        return n >= 0 and int(e["y"]) % 2 == 0

def half(rows): return rows / 2
def blur(batch):
    time.sleep(0.05)
    return batch * 0.5

def mixed(f):
    fast = grain.MapDataset.source(grain_programs.Records()).repeat()
    slow = grain.MapDataset.source(grain_programs.Records() if f else Slow()).repeat().map(lambda r: r)
    if not f: fast = fast.map(lambda r: r[:32])
    both = grain.MapDataset.mix([fast, slow], weights=[0.5, 0.5])
    return both.batch(8).to_iter_dataset(grain.ReadOptions(1, 2))

def eight_threads(f):
    return grain.MapDataset.source(Texts()).seed(1).shuffle().map(to_row if f else parse_text).repeat().batch(16).to_iter_dataset(grain.ReadOptions(8, 16))

def after_workers(f):
    ds = grain.MapDataset.source(grain_programs.Records()).repeat().batch(8).to_iter_dataset(grain.ReadOptions(1, 4))
    return ds.mp_prefetch(grain.MultiprocessingOptions(num_workers=1)).map(half if f else blur)

def loader_filter(f):
    ops = [pygrain.Batch(4), OnlyX()]
    return loader(Parquet(), ops if f else [Vowels(), *ops], pygrain.ReadOptions(2, 4))

def healthy_default(f):
    return grain.MapDataset.source(Texts()).seed(1).shuffle().map(to_row).repeat().batch(8).to_iter_dataset()

def drained_batches(f):
    return grain.MapDataset.source(grain_programs.Records() if f else Slow()).repeat().batch(8).to_iter_dataset(grain.ReadOptions(1, 150))

def shuffled_indices(f):
    """Whole numbers in a random order: nearly all of the work is finding the next index."""
    numbers = grain.MapDataset.range(2_000_000)
    numbers = numbers if f else numbers.seed(7).shuffle()
    return numbers.batch(32).to_iter_dataset(grain.ReadOptions(0, 0))

KINDS = {
    "shuffled_indices": (shuffled_indices, 0, 0, ("bound", "shuffle", None, "loop")),
    "mixed": (mixed, 0.003, 0, ("bound", "source", "__getitem__", "threads")),
    "eight_threads": (eight_threads, 0.003, 0, ("bound", "map", "parse_text", "threads")),
    "after_workers": (after_workers, 0.003, 0, ("bound", "map", "blur", "loop")),
    "loader_filter": (loader_filter, 0.003, 0, ("bound", "filter", "filter", "loop")),
    "healthy_default": (healthy_default, 0.04, 2, ("healthy", None, None, "threads")),
    "drained_batches": (drained_batches, 0.008, 5, ("drained", None, None, "threads")),
}
grain_programs.KINDS = KINDS
grain_programs.free = lambda batch: batch
if __name__ == "__main__":
    from absl import app
    app.run(grain_programs.main)
