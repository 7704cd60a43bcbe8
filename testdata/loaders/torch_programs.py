"""PyTorch's DataLoader, with and without workers: read by torch.profiler, or by JAX's profiler where JAX trains."""
import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return self.load(index)

    def load(self, index):
        time.sleep(0.004)
        return np.full((64,), index, np.float32)


def join(rows):
    return torch.as_tensor(np.stack(rows))


def loader(workers):
    return DataLoader(Pictures(), batch_size=8, num_workers=workers, collate_fn=join)


def with_torch(workers, folder):
    w = torch.ones(64, 64)
    def loop(n, it):
        for _, batch in zip(range(n), it):
            (batch @ w).tanh().sum().item()
            time.sleep(0.004)
    it = iter(loader(workers))
    loop(3, it)
    with torch.profiler.profile(with_stack=True) as profiler:
        loop(20, it)
    profiler.export_chrome_trace(folder + ".trace.json")


def with_jax(workers, folder):
    import jax, jax.numpy as jnp
    @jax.jit
    def step(w, x):
        return jnp.tanh((w + jnp.mean(x)) @ w * 0.001)
    w = jnp.ones((200, 200))
    it = iter(loader(workers))
    for _ in range(3):
        w = step(w, next(it).numpy())
    w.block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    jax.profiler.start_trace(folder, profiler_options=options)
    for number in range(20):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            w = step(w, next(it).numpy())
            time.sleep(0.004)
            w.block_until_ready()
    jax.profiler.stop_trace()


if __name__ == "__main__":
    {"torch": with_torch, "jax": with_jax}[sys.argv[1]](int(sys.argv[2]), sys.argv[3])
