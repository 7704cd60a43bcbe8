#pragma once

#include <span>

#include "model/fix.h"

namespace doctor {

/// A condition of a prediction that the trace does not show.
enum class Condition {
  none,
  python_releases_lock,  ///< the function releases Python's lock: else the lower end holds
  fits_in_memory,        ///< what is cached fits in memory
  runs_on_batches,       ///< the function can work on whole batches
  does_not_need_map,     ///< the filter decides by what it has before the map
  comes_from_files,      ///< what the generator makes can be read from files
};

/// The requirements of a cache.
struct CacheOutlook {
  /// an epoch ended in the window; a cache is complete, and read from, only after one
  bool saw_epoch_end = false;
  /// size of an epoch, if the trace shows how many elements it has and how large they are
  std::optional<double> megabytes;
};

/// A rate after a change, in steps a second.
struct Prediction {
  double estimate = 0;
  double low = 0;   ///< lower end of the range that holds the rate nine times out of ten
  double high = 0;  ///< upper end
  Condition condition = Condition::none;
  std::optional<CacheOutlook> cache;  ///< set only if something is cached
  Bottleneck then_limited_by;
  double input_share = 0;  ///< share of the consumer's time that it then spends in GetNext

  double gain(const PipelineModel& model) const { return estimate / model.now.steps_per_s; }
};

/// Tests whether elements of an iterator began anew in the window: only then is a cache after it complete, and read
/// from.
bool shows_epoch_end(const HostMeasurement& host, IteratorId iterator);

/// The effect of all fixes together. Fixes that change no rate give a gain of 1.
Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, const ReplayLimits& limits = {});

/// The same on top of an edit: other cores, another consumer.
Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, Edit edit, const ReplayLimits& limits);

/// The rate if every element were ready.
Prediction predict_without_input(const PipelineModel& model, const ReplayLimits& limits = {});

/// Limits a prediction to the rate with ready elements, which no change exceeds. Replays that end at different steps
/// differ by some parts in a thousand.
void limit_to(Prediction& prediction, const Prediction& without_input);

}  // namespace doctor
