"""Which changes of a report are tried, and where a cache stands."""

import contextlib
import unittest
from dataclasses import replace as replace_fields
from types import SimpleNamespace

from tfdata_doctor import diagnose
from tfdata_doctor_fix import plan
from tfdata_doctor_fix.caches import CachePlaces
from tfdata_doctor_fix.edits import Edit, Place
from tfdata_doctor_fix.forecast import Forecast
from tfdata_doctor_fix.made import MadeAt
from tfdata_doctor_fix.plan import NotTried, Planner
from tfdata_doctor_fix.source import Refused, Source
from tfdata_doctor_fix.workspace import Workspace

from .fix_support import INPUT, RecordedTest, with_change


class PlanTest(RecordedTest):
    def plan(self, text=INPUT, roots=None, allowed=()):
        run = self.recorded(text)
        planner = Planner(
            diagnose(run),
            str(run),
            str(self.folder / "train.py"),
            roots or [str(self.folder)],
            frozenset(allowed),
            Forecast(str(run), []),
        )
        return list(planner.plan(Workspace()))

    def test_changes_of_a_report_are_edits_of_its_lines(self):
        candidate, left = self.plan()
        self.assertEqual(candidate.kinds, ("parallel_filter",))
        self.assertEqual(
            candidate.edits, ((str(self.folder / "src" / "input.py"), Edit("parallel_filter", Place(18, "filter"))),)
        )
        self.assertGreater(candidate.predicted.gain, 1.2)
        self.assertIsInstance(left, NotTried)
        self.assertIn("it needs a person", left.reason)

    def test_files_elsewhere_are_left_alone(self):
        left = self.plan(roots=["/nowhere"])[0]
        self.assertRegex(left.reason, "is not in your repository")
        self.assertEqual((left.file, left.line), (str(self.folder / "src" / "input.py"), 18))

    def test_cache_that_would_never_be_complete(self):
        run = self.recorded()
        report = diagnose(run)
        change = report.changes[0]
        fix = type(change.fixes[0])("cache", "cache", change.fixes[0].iterator, None, None)
        object.__setattr__(change, "fixes", [fix])
        forecast = Forecast(str(run), [])
        planner = Planner(report, str(run), str(self.folder / "train.py"), [str(self.folder)], frozenset(), forecast)
        self.assertIn("an endless repeat() comes before it", next(planner.plan(Workspace())).reason)

    def plan_of(self, *change):
        run = self.recorded()
        folders = str(self.folder / "train.py"), [str(self.folder)], frozenset()
        planner = Planner(with_change(diagnose(run), *change), str(run), *folders, Forecast(str(run), []))
        return next(planner.plan(Workspace()))

    def test_cache_whose_order_a_shuffle_makes_up_for(self):
        planned = self.plan_of("input-bound", "MapAndBatch", "cache")
        self.assertEqual((planned.kinds, planned.note), (("cache_shuffle",), plan.BATCHES_STAY))
        self.assertEqual(planned.edits[0][1], Edit("cache_shuffle", Place(20, "batch")))
        self.assertEqual(planned.fixes, ("cache:Iterator::Root::Prefetch::MapAndBatch",))

    def test_line_tells_pipelines_of_the_same_steps_apart(self):
        run = self.recorded()
        report = with_change(diagnose(run), "input-bound", "MapAndBatch", "cache")
        (pipeline,) = report.pipelines
        other = [replace_fields(one, dataset_name="", source=None, user_method=None) for one in pipeline.iterators]
        (line,) = [one.source.line for one in pipeline.iterators if one.short_name == "MapAndBatch"]
        report = replace_fields(
            report,
            pipelines=[replace_fields(pipeline, iterators=other), pipeline],
            changes=[replace_fields(report.changes[0], code=f"ds = ds.cache()  # after map at input.py:{line}")],
        )
        folders = str(self.folder / "train.py"), [str(self.folder)], frozenset()
        planned = next(Planner(report, str(run), *folders, Forecast(str(run), [])).plan(Workspace()))
        self.assertEqual(planned.kinds, ("cache_shuffle",))

    def test_buffer_that_each_epoch_fills_anew_is_filled_from_a_cache(self):
        planned = self.plan_of("shuffle-refilled", "Shuffle")
        self.assertEqual(planned.edits[0][1], Edit("cache", Place(16, "range")))
        left = self.plan_of("input-bound", "Shuffle")
        self.assertTrue(left.reason.startswith("it needs a person"))
        self.assertNotIn(left.words, left.reason)


FLIP = """\
ds = files.shuffle(9)
ds = ds.map(load)
ds = ds.map(flip)
ds = ds.shuffle(9)
ds = ds.batch(2)
def flip(image): return turn(image)
def turn(image): return tf.image.random_flip_up_down(image)
def load(path): return stateless(path)
def stateless(path): return tf.image.stateless_random_crop(path, size, seed)
"""


class CachePlaceTest(unittest.TestCase):
    """Where a cache stands in a chain, from its end to its source: short name, line, work."""

    def places(self, chain, may_keep_order=False):
        iterators = [
            SimpleNamespace(
                short_name=name, dataset_name=str(line), depth=number, self_us=1, function_us=work, calls=10,
            )
            for number, (name, line, work) in enumerate(chain)
        ]  # fmt: skip
        methods = {1: "shuffle", 2: "map", 3: "map", 4: "shuffle", 5: "batch", 6: "image_dataset_from_directory"}
        made = {str(line): MadeAt("x.py", Place(line, method)) for line, method in methods.items()}
        pipeline = SimpleNamespace(iterators=iterators, get_next=SimpleNamespace(count=5))
        source = Source("x.py", FLIP.encode())
        return CachePlaces(pipeline, made, lambda _: source, may_keep_order)

    def place(self, chain, at, is_before=False, may_keep_order=False):
        places = self.places(chain, may_keep_order)
        return int(places.place(places._pipeline.iterators[at], is_before).dataset_name)

    CHAIN = (("Batch", 5, 0), ("Shuffle", 4, 0), ("Map", 2, 90), ("Source", 9, 10))

    def test_before_a_shuffle(self):
        self.assertEqual(self.place(self.CHAIN, 2), 2)
        self.assertEqual(self.place(self.CHAIN, 0), 2)
        self.assertEqual(self.place(self.CHAIN, 0, may_keep_order=True), 5)

    def test_shuffle_of_the_files_is_made_up_for_by_a_later_one(self):
        chain = (*self.CHAIN[:3], ("Shuffle", 1, 0))
        self.assertEqual(self.place(chain, 0), 2)
        with self.assertRaisesRegex(Refused, "--allow order"):
            self.place((("Batch", 5, 0), ("Map", 2, 90), ("Shuffle", 1, 0)), 0)

    def test_before_a_random_map(self):
        chain = (("Batch", 5, 0), ("Map", 3, 20), ("Map", 2, 90))
        self.assertEqual(self.place(chain, 0), 2)
        self.assertEqual(self.place(chain, 1, is_before=True), 2)
        with self.assertRaisesRegex(Refused, "line 3 is random .random_flip_up_down."):
            self.place((("Map", 3, 90), ("Map", 2, 9)), 0)

    def test_random_function_of_its_seed(self):
        places = self.places((("Batch", 5, 0), ("Map", 3, 20), ("Map", 2, 90)))
        batch, flip, load = places._pipeline.iterators
        self.assertEqual([places.is_stateless(one) for one in (batch, flip, load)], [False, False, True])

    def test_place_that_keeps_little_is_not_tried(self):
        with self.assertRaisesRegex(Refused, "endless"):
            self.place((("ForeverRepeat", 9, 0), ("Map", 9, 90), ("Map", 2, 10)), 0)

    def below_order(self, *chain):
        places = self.places(chain)
        found = places.below_order(places._pipeline.iterators[0])
        return found and tuple(iterator.depth for iterator in found)

    def test_shuffle_or_repeat_that_only_maps_follow(self):
        fused, repeat, files = ("MapAndBatch", 2, 90), ("ForeverRepeat", 9, 0), ("TextLine", 9, 1)
        self.assertEqual(self.below_order(fused, repeat, files), (0, 1))
        self.assertEqual(self.below_order(("Batch", 5, 0), ("ParallelMapV2", 2, 90), repeat, files), (1, 2))
        shuffle = ("Shuffle", 1, 0)
        self.assertEqual(self.below_order(fused, shuffle, repeat, files), (0, 1))
        self.assertEqual(self.below_order(fused, ("ShuffleAndRepeat", 1, 0), files), (0, 1))
        self.assertEqual(self.below_order(fused, shuffle, files), (0, 1))
        # A source that takes no time is in no recording.
        self.assertEqual(self.below_order(fused, shuffle), (0, 1))
        # After a repeat, these have other elements than those of an epoch.
        for other in ("Batch", "Take"):
            self.assertIsNone(self.below_order(fused, (other, 4, 0), repeat, files))
        self.assertIsNone(self.below_order(("Batch", 5, 90), ("Map", 2, 1), repeat, files))
        self.assertIsNone(self.below_order(fused, files))
        with self.assertRaisesRegex(Refused, "line 3 is random"):
            self.below_order(("Map", 3, 90), repeat, files)
        with self.assertRaisesRegex(Refused, "--allow order"):
            self.below_order(fused, repeat, ("Batch", 5, 0), shuffle, files)

    def test_what_a_helper_makes_is_cached_after_its_call(self):
        helper = (("Prefetch", 6, 0), ("Batch", 6, 0), ("Map", 6, 90), ("Source", 6, 1))
        places = self.places((("Root", 6, 0), *helper))
        iterators = places._pipeline.iterators
        for iterator in iterators[1:]:
            self.assertIs(places.place(iterator, False), iterators[1])
        # Its map cannot be moved before its shuffle.
        self.assertIsNone(self.below_order(("Map", 6, 90), ("Shuffle", 6, 0), ("Source", 6, 1)))

    def test_shuffle_after_a_cache_makes_up_for_one_before_it(self):
        def place(*chain):
            places = self.places(chain)
            return places.shuffled_place(places._pipeline.iterators[-3], False).dataset_name

        below = (("Batch", 5, 90), ("Shuffle", 1, 0), ("Source", 9, 1))
        self.assertEqual(place(*below), "5")
        self.assertEqual(place(("Root", 9, 0), ("Prefetch", 9, 0), ("ParallelMapV2", 2, 0), *below), "5")
        for other in ("Zip[0]", "FiniteTake", "FiniteSkip", "Shard"):
            with self.assertRaisesRegex(Refused, "depends on the order"):
                place(("Map", 2, 0), (other, 9, 0), *below)
        with self.assertRaisesRegex(Refused, "endless"):
            place(("Batch", 5, 90), ("ShuffleAndRepeat", 1, 0), ("Source", 9, 1))

    def test_shuffle_of_the_training_alone_is_none_for_all(self):
        text = "def make(files, training):\n{}    ds = ds.batch(2)\n    return ds\n"
        chain = (("Batch", 5, 90), ("Shuffle", 1, 0), ("Source", 9, 1))
        for shuffle, line, is_refused in (
            ("    ds = files.shuffle(9)\n", 2, False),
            ("    ds = files\n    if training:\n        ds = ds.shuffle(9)\n", 4, True),
            ("    ds = files.shuffle(9) if training else files\n", 2, True),
            ("    ds = helper(files, shuffle=True)\n", 2, False),
            ("    ds = helper(files, shuffle=training)\n", 2, True),
        ):
            places = self.places(chain)
            source = Source("x.py", text.format(shuffle).encode())
            places._read = lambda _, source=source: source
            method = "helper" if "helper" in shuffle else "shuffle"
            places._made = {
                "1": MadeAt("x.py", Place(line, method)),
                "5": MadeAt("x.py", Place(line + 1, "batch")),
            }
            context = (
                self.assertRaisesRegex(Refused, "does not always shuffle") if is_refused else contextlib.nullcontext()
            )
            with context:
                places.shuffled_place(places._pipeline.iterators[0], False)

    def test_output_that_ends_although_an_input_does_not(self):
        batch, repeat, numbers = ("Batch", 5, 90), ("ForeverRepeat", 9, 0), ("Range", 9, 0)
        self.assertEqual(self.place((batch, ("FiniteTake", 9, 0), repeat), 0), 5)
        places = self.places((batch, ("Zip[0]", 9, 0), repeat, numbers))
        iterators = places._pipeline.iterators
        iterators[3].depth = 2  # another input of zip()
        self.assertEqual(places.place(iterators[0], False), iterators[0])
        iterators[3].short_name = "ForeverRepeat"
        with self.assertRaisesRegex(Refused, "an endless repeat"):
            places.place(iterators[0], False)

    def test_before_an_endless_repeat(self):
        self.assertEqual(self.place((("Batch", 5, 0), ("ForeverRepeat", 9, 0), ("Map", 2, 90)), 0), 2)


if __name__ == "__main__":
    unittest.main()
