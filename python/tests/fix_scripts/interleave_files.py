"""Files that are read one after the other, each element from afar."""

import time

import tensorflow.data as tfd
from tensorflow import Variable, io, reduce_sum, strings

import data

fetch = data.waiting(0.004)


def read(path):
    return tfd.TextLineDataset(path).map(fetch)


paths = tfd.Dataset.from_tensor_slices(io.gfile.glob(data.lines()))
ds = paths.repeat(3).interleave(read, cycle_length=4).batch(8)

total = Variable(0)
for batch in ds:
    total.assign_add(reduce_sum(strings.length(batch)))
    time.sleep(0.004)
