#include <fmt/format.h>

#include <algorithm>

#include "diagnose/element_buffers.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::shuffle_refilled {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<ShuffleFill>& fill = ranked.pipeline.shuffle_fill;
  if (!examiner.holds("a shuffle reads many elements before it returns the first one", fill.has_value())) {
    return std::nullopt;
  }
  examiner.is_about(fill->iterator);
  if (!examiner.holds("its buffer is filled more than once in the window", times_filled(*fill) >= kRefilled)) {
    return std::nullopt;
  }
  if (!examiner.holds("the training waits for the pipeline", ranked.is_slow())) return std::nullopt;
  const double window = static_cast<double>(std::max<Picoseconds>(ranked.host.window, 1));
  const double share = static_cast<double>(fill->duration) / window;
  if (!examiner.at_least(share_of("share", share), "min_share")) return std::nullopt;
  Finding finding;
  finding.subject = ranked[fill->iterator].long_name;
  finding.message = fmt::format(
      "{} fills its buffer anew in each epoch, and nothing comes out meanwhile: {} of {} in the window, {} in all",
      describe(ranked.host, fill->iterator), format_count(static_cast<std::uint64_t>(times_filled(*fill)), "time"),
      format_count(static_cast<std::uint64_t>(*fill->buffer_size), "element"), format_time(fill->duration));
  finding.evidence = {{"times_filled", times_filled(*fill), ""},
                      time_of("duration", fill->duration),
                      share_of("share", share),
                      number_of("buffer_size", static_cast<std::uint64_t>(*fill->buffer_size), "elements")};
  finding.advice = {{{"Repeat directly after the shuffle, before batch",
                      "It fills the buffer with the next epoch while this one's elements leave it. A batch may then "
                      "hold elements of two epochs, and one loop goes over all of them: without a number it never "
                      "ends. Keras needs steps_per_epoch."},
                     "dataset = dataset.shuffle(buffer_size).repeat(epochs).batch(batch_size)"},
                    {{"Shuffle before decoding", "File names and serialized records are cheap to make."},
                     "dataset = dataset.shuffle(buffer_size).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"}};
  finding.is_easy = true;
  finding.at_stake = std::min(fill->duration, ranked.phase().waited);
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "shuffle-refilled",
          .summary = "A shuffle buffer is filled anew in each epoch, and nothing comes out meanwhile",
          .follows = {references::kShuffling, references::kShuffleApi},
          .thresholds = {{"min_share", 0.05, "share",
                          "minimum share of the window that filling takes; at this share XProf calls a job moderately "
                          "input-bound"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::shuffle_refilled
