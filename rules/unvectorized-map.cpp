#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "measure/functions/function_types.h"
#include "text/numbers.h"

namespace doctor::rules::unvectorized_map {
namespace {

/// Calls of the function in the window. A map that is fused with the batch after it returns batches: its input counts.
std::uint64_t function_calls(const RankedPipeline& ranked) {
  const IteratorMeasurement& culprit = ranked.culprit();
  if (!culprit.has(Trait::fused_batch)) return culprit.calls;
  return culprit.children.empty() ? 0 : ranked[culprit.children.front()].calls;
}

/// Mean time of a call on the thread that makes it. Of a parallel map only the waits are known: as many calls as its
/// parallelism, or the cores, ran meanwhile. nullopt if the trace does not say how many these are.
std::optional<double> call_microseconds(const RankedPipeline& ranked, std::uint64_t calls) {
  const IteratorMeasurement& culprit = ranked.culprit();
  const auto count = static_cast<double>(std::max<std::uint64_t>(calls, 1));
  if (!culprit.is_async) return to_microseconds(culprit.self) / count;
  std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  if (!parallelism) parallelism = ranked.pipeline.cpu_budget;
  if (!parallelism) return std::nullopt;
  return to_microseconds(culprit.total) * static_cast<double>(std::max<std::int64_t>(*parallelism, 1)) / count;
}

/// The elements of a batch made from the culprit's: a window of few calls is a poor measure of how many there are.
std::optional<std::int64_t> batch_size_after(const RankedPipeline& ranked) {
  if (const std::optional<std::int64_t> own = ranked.culprit().number("batch_size")) return own;
  for (const IteratorId id : ranked.host.iterators_above(ranked.judgement.culprit)) {
    if (const std::optional<std::int64_t> size = ranked[id].number("batch_size")) return size;
  }
  return std::nullopt;
}

/// Part of the culprit's time in which its function parses a record. 0 where that takes a call so long that it is the
/// data which takes it.
double short_parsing_share(const RankedPipeline& ranked, std::uint64_t calls, double most_of_call) {
  const Picoseconds in_window = time_of(ranked.culprit().function_ops, is_parser);
  if (to_microseconds(in_window) > most_of_call * static_cast<double>(calls)) return 0;
  const CulpritFunction function = ranked.function();
  const Picoseconds all = function.time_of_ops();
  const Picoseconds parsing = time_of(function.ops, is_parser);
  return all > 0 ? share_in_ops(ranked) * static_cast<double>(parsing) / static_cast<double>(all) : 0;
}

Advice advice_for(const RankedPipeline& ranked, bool parses) {
  const Fix fix{FixKind::vectorize, ranked.judgement.culprit, {}, {}};
  if (parses) {
    return {
        {"Batch first, and parse whole batches",
         "tf.io.parse_example takes the serialized records of a batch. What the function does to single elements goes "
         "into a map after it."},
        "dataset = dataset.batch(batch_size).map(\n"
        "    lambda records: tf.io.parse_example(records, features), num_parallel_calls=tf.data.AUTOTUNE)",
        {fix}};
  }
  return {{"Batch before the map", "If the function can work on whole batches: one call then does the work of many."},
          "dataset = dataset.batch(batch_size).map(f_on_batches, num_parallel_calls=tf.data.AUTOTUNE)",
          {fix}};
}

std::string overhead_words(double overhead, double parsing) {
  const std::string calls = format_share(overhead - parsing);
  if (parsing <= 0)
    return fmt::format("for {} of that time no op of the function runs: it is the cost of the calls", calls);
  return fmt::format(
      "it parses one record at a time for {} of that time, and for {} no op of the function runs: both "
      "are mostly the cost of calls",
      format_share(parsing), calls);
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  if (!examiner.holds(culprit_is(ranked, "a map"), ranked.culprit().has(Trait::map))) return std::nullopt;
  if (!examiner.holds("the map is in the code, not inside of a function that makes a whole dataset",
                      ranked.culprit().maker.empty())) {
    return std::nullopt;
  }
  const std::uint64_t calls = function_calls(ranked);
  const auto gets = static_cast<double>(std::max<std::size_t>(ranked.pipeline.calls.size(), 1));
  const std::optional<std::int64_t> batch = batch_size_after(ranked);
  const double per_step = batch ? static_cast<double>(*batch) : static_cast<double>(calls) / gets;
  const Evidence per_get_next = {"calls_per_get_next", per_step, "calls"};
  const std::optional<double> call = call_microseconds(ranked, calls);
  if (!examiner.at_least(per_get_next, "min_calls")) return std::nullopt;
  if (ranked.phase().in_function[ranked.judgement.culprit] <= 0) {
    examiner.misses("the trace does not show the calls of the culprit's function");
    return std::nullopt;
  }
  // The cost of scheduling the function and of passing its arguments and results, and that of a call of the parser.
  const double parsing = short_parsing_share(ranked, calls, examiner["max_parse_time"]);
  const double overhead = 1 - share_in_ops(ranked) + parsing;
  if (!examiner.at_least(share_of("overhead_share", overhead), "min_overhead_share")) return std::nullopt;
  Finding finding = culprit_finding(
      ranked, fmt::format("{}, which calls its function {:.0f} times per {}{}; {}", culprit_part(ranked),
                          per_get_next.value, batch ? "batch" : "GetNext",
                          call ? fmt::format(", {:.0f} us each", *call) : "", overhead_words(overhead, parsing)));
  finding.evidence.push_back(per_get_next);
  if (call) finding.evidence.push_back({"mean_call", *call, "us"});
  finding.evidence.push_back(share_of("overhead_share", overhead));
  if (parsing > 0) finding.evidence.push_back(share_of("parsing_share", parsing));
  finding.advice = {advice_for(ranked, parsing > 0)};
  finding.is_easy = true;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "unvectorized-map",
          .summary = "A map calls its function for every element, and the calls cost more than their work",
          .follows = {references::kVectorizing},
          .thresholds =
              {{"min_calls", 50, "calls",
                "minimum number of calls of the function per batch, else per GetNext; chosen: fewer cannot cost "
                "much by themselves"},
               {"min_overhead_share", 0.50, "share",
                "minimum share of the culprit's time in which no op of its function runs, or one that parses a "
                "record: then the calls cost more than their work. Recorded maps that became 4 to 35 times faster on "
                "batches measured 0.9 to "
                "1.00, with 20 to 160 us a call; maps whose ops are the work measured 0.00 to 0.31"},
               {"max_parse_time", 50, "us",
                "up to this time to parse a record, on average, its parsing counts as the cost of a call. With TF "
                "2.21, batch before parse_example made the input 9 to 35 times as fast for records of 1 to 17 "
                "small features (9 to 20 us a record), 3.6 times for one of 40 kB (35 us), and half as fast for "
                "one of 400 kB (280 us)"}},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::unvectorized_map
