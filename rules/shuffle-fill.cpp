#include <fmt/format.h>

#include "diagnose/element_buffers.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::shuffle_fill {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  if (!examiner.holds("a shuffle reads many elements before it returns the first one",
                      ranked.pipeline.shuffle_fill.has_value())) {
    return std::nullopt;
  }
  const ShuffleFill& fill = *ranked.pipeline.shuffle_fill;
  examiner.is_about(fill.iterator);
  // shuffle-refilled is about that.
  if (!examiner.holds("it is filled once", times_filled(fill) < kRefilled)) return std::nullopt;
  // What the window cuts off has no length; it is reported all the same.
  if (fill.duration > 0 && !examiner.at_least(time_of("duration", fill.duration), "min_duration")) return std::nullopt;
  Finding finding;
  finding.severity = Severity::note;
  finding.subject = ranked[fill.iterator].long_name;
  finding.message = fmt::format("{} fills its buffer in this window: it reads {} before it returns the first one",
                                describe(ranked.host, fill.iterator), format_count(fill.elements, "element"));
  if (fill.duration > 0) finding.message += fmt::format(" ({})", format_time(fill.duration));
  finding.evidence = {number_of("elements", fill.elements, "elements"), time_of("duration", fill.duration)};
  if (fill.buffer_size && *fill.buffer_size >= 0) {
    finding.evidence.push_back(number_of("buffer_size", static_cast<std::uint64_t>(*fill.buffer_size), "elements"));
  }
  finding.advice = {
      {{"Leave the first steps out of the profile", "This is the start of an epoch, not the steady state."},
       "tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(11, 40))"},
      {{"If every epoch starts slowly, shuffle before decoding",
        "File names and serialized records are small. Or use a smaller buffer; repeat after the shuffle only where the "
        "order of epochs matters."},
       "dataset = dataset.shuffle(buffer_size).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"}};
  finding.at_stake = fill.duration;
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "shuffle-fill",
      .summary = "A shuffle buffer is filled in the window: the first elements come late",
      .follows = {references::kShuffling, references::kShuffleApi},
      .thresholds =
          {{"min_duration", 1000, "us",
            "minimum time that filling takes to be worth mentioning: what a first call must take to count as warm-up"}},
      .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::shuffle_fill
