"""As much of Keras 3 as calls callbacks."""

__version__ = "3.0"


def adapt(dataset):
    """As a layer that learns from data: it takes elements by itself."""
    import tensorflow

    for _ in dataset:
        tensorflow.train()


class Model:
    def fit(self, epochs=1, steps=8, callbacks=None, at_once=1, data=None, validation=(), work=None):
        """`data`: an iterator that Python takes a batch of in each step; `validation` is another; `work`: what is done
        in each of them."""
        callbacks = callbacks or []

        def call(name, *arguments):
            # As Keras 3 does it: logs are given by name.
            options = {"logs": arguments[-1]} if name.startswith("on_") else {}
            for callback in callbacks:
                getattr(callback, name)(*(arguments[:-1] if options else arguments), **options)

        call("set_params", {"epochs": epochs, "steps": steps})
        call("set_model", self)
        call("on_train_begin", None)
        for epoch in range(epochs):
            call("on_epoch_begin", epoch, None)
            for batch in range(0, steps, at_once):
                call("on_train_batch_begin", batch, None)
                if data is not None:
                    next(data)
                if work is not None:
                    work(batch)
                call("on_train_batch_end", batch + at_once - 1, {})
            call("on_test_begin", None)
            call("on_test_batch_begin", 0, None)
            for _ in validation:
                pass
            call("on_test_batch_end", 0, {})
            call("on_test_end", {})
            call("on_epoch_end", epoch, {})
        call("on_train_end", {})
        return len(callbacks)
