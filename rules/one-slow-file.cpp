#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::one_slow_file {
namespace {

/// The datasets of an interleave of which enough elements were seen to tell how long one takes, slowest first.
struct RankedDatasets {
  std::vector<InterleavedDataset> slowest_first;
  Picoseconds usual = 0;  ///< what an element of the one in the middle takes

  double times_usual(const InterleavedDataset& dataset) const {
    return static_cast<double>(dataset.element_time) / static_cast<double>(std::max<Picoseconds>(usual, 1));
  }
  /// Those whose elements take so many times as long as usual: more than one where a file is opened in each epoch.
  std::size_t count_slow(double min_ratio) const {
    return static_cast<std::size_t>(
        std::count_if(slowest_first.begin(), slowest_first.end(),
                      [&](const InterleavedDataset& dataset) { return times_usual(dataset) >= min_ratio; }));
  }
};

RankedDatasets ranked_datasets(const IteratorMeasurement& interleave, double min_elements) {
  RankedDatasets ranked;
  for (const InterleavedDataset& dataset : interleave.interleaved) {
    if (static_cast<double>(dataset.calls) >= min_elements) ranked.slowest_first.push_back(dataset);
  }
  std::stable_sort(
      ranked.slowest_first.begin(), ranked.slowest_first.end(),
      [](const InterleavedDataset& a, const InterleavedDataset& b) { return a.element_time > b.element_time; });
  if (!ranked.slowest_first.empty()) {
    ranked.usual = ranked.slowest_first[ranked.slowest_first.size() / 2].element_time;
  }
  return ranked;
}

/// The interleave of the pipeline whose datasets differ most; kNoIterator where none works on several at once.
IteratorId most_uneven_interleave(const RankedPipeline& ranked, double min_elements) {
  IteratorId most = kNoIterator;
  double most_times = 0;
  for (const IteratorId id : ranked.pipeline.members) {
    if (!ranked[id].is_parallel_interleave()) continue;
    const RankedDatasets datasets = ranked_datasets(ranked[id], min_elements);
    const double times = datasets.slowest_first.empty() ? 0 : datasets.times_usual(datasets.slowest_first.front());
    if (most == kNoIterator || times > most_times) std::tie(most, most_times) = std::pair(id, times);
  }
  return most;
}

/// The part of the time from the first call of the consumer to the last in which the first `count` are at work.
double busy_share(const RankedPipeline& ranked, const RankedDatasets& datasets, std::size_t count) {
  const std::vector<Interval>& calls = ranked.pipeline.calls;
  const Picoseconds time = calls.empty() ? 0 : calls.back().end - calls.front().start;
  const Picoseconds busy = std::accumulate(
      datasets.slowest_first.begin(), datasets.slowest_first.begin() + static_cast<std::ptrdiff_t>(count),
      Picoseconds{0}, [](Picoseconds sum, const InterleavedDataset& dataset) { return sum + dataset.total; });
  return time > 0 ? std::min(1.0, static_cast<double>(busy) / static_cast<double>(time)) : 0;
}

/// Asks whether the interleave gives its elements in the order of its datasets.
bool keeps_order(const IteratorMeasurement& interleave, Examiner& examiner) {
  const std::string_view deterministic = interleave.text("deterministic");
  if (deterministic.empty()) examiner.misses("whether the interleave keeps the order of elements");
  return !deterministic.empty() &&
         examiner.holds("the interleave keeps the order of elements", deterministic == "true");
}

std::vector<Advice> advice_for() {
  return {{{"Let the other files pass the slow one", "It changes the order of elements."},
           "dataset = filenames.interleave(\n    dataset_of_file,\n    num_parallel_calls=tf.data.AUTOTUNE, "
           "deterministic=False)"},
          {{"Make the files alike",
            "Split the slow one if its elements are larger than those of the others, and move it if it lies on slower "
            "storage. A higher cycle_length has more files read while it is waited for."},
           std::nullopt}};
}

Finding finding_for(const RankedPipeline& ranked, IteratorId id, const RankedDatasets& datasets, std::size_t slow,
                    double busy) {
  const InterleavedDataset& slowest = datasets.slowest_first.front();
  const std::string more = slow > 1 ? fmt::format(" (and {} like it)", format_count(slow - 1, "later one")) : "";
  Finding finding;
  finding.subject = ranked[id].long_name;
  finding.message = fmt::format(
      "{} keeps the order of its elements and waits for one slow file in its turn: dataset {}{} takes {} for an "
      "element, others usually {}, and is at work {} of the time",
      describe(ranked.host, id), slowest.number, more, format_time(slowest.element_time), format_time(datasets.usual),
      format_share(busy));
  finding.evidence = {number_of("dataset", slowest.number), time_of("element_time", slowest.element_time),
                      time_of("usual_element_time", datasets.usual), share_of("dataset_busy", busy),
                      time_of("waited", ranked.phase().waited)};
  finding.at_stake = ranked.phase().waited;
  finding.advice = advice_for();
  finding.is_easy = true;
  return finding;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  if (!is_waited_for(ranked, Waits::bound, examiner)) return std::nullopt;
  const IteratorId id = most_uneven_interleave(ranked, examiner["min_elements"]);
  if (!examiner.holds("an interleave works on several datasets at once", id != kNoIterator)) return std::nullopt;
  examiner.is_about(id);
  if (!keeps_order(ranked[id], examiner)) return std::nullopt;
  const RankedDatasets datasets = ranked_datasets(ranked[id], examiner["min_elements"]);
  if (!examiner.holds("of three of its datasets or more, enough elements were seen",
                      datasets.slowest_first.size() >= 3)) {
    return std::nullopt;
  }
  const double times = datasets.times_usual(datasets.slowest_first.front());
  if (!examiner.at_least({"times_the_usual", times, "times"}, "min_ratio")) return std::nullopt;
  const std::size_t slow = datasets.count_slow(examiner["min_ratio"]);
  if (!examiner.holds("at most a third of its datasets are as slow", 3 * slow <= datasets.slowest_first.size())) {
    return std::nullopt;
  }
  const double busy = busy_share(ranked, datasets, slow);
  if (!examiner.at_least(share_of("dataset_busy", busy), "min_busy")) return std::nullopt;
  return finding_for(ranked, id, datasets, slow, busy);
}

}  // namespace

Rule rule() {
  return {.id = "one-slow-file",
          .summary = "An interleave that keeps the order waits for one slow file in its turn",
          .follows = {references::kParallelExtraction, references::kSourceDatasets},
          .thresholds = {{"min_ratio", 2, "times",
                          "how many times as long as of the dataset in the middle an element of the slowest one takes, "
                          "at least; measured: in 40 recordings of files that are alike, up to 1.4 times"},
                         {"min_elements", 16, "elements",
                          "minimum elements of a dataset in the window that tell how long one takes; measured: with 8, "
                          "files that are alike are up to 2.8 times apart"},
                         {"min_busy", 0.5, "share",
                          "minimum part of the time in which the slow dataset is at work. Below a half the job waits "
                          "longer for something else"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::one_slow_file
