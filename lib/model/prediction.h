#pragma once

#include <span>

#include "model/fix.h"

namespace doctor {

/// On what a prediction depends that the trace does not show.
enum class Condition {
  none,
  python_releases_lock,  ///< the function lets go of Python's lock: else the lower end holds
  fits_in_memory,        ///< what is cached does
  runs_on_batches,       ///< the function can work on whole batches
  does_not_need_map,     ///< the filter decides by what it has before the map
  comes_from_files,      ///< what the generator makes can be read from files
};

/// What a cache would have to hold.
struct CacheOutlook {
  bool saw_epoch_end = false;       ///< in the window; a cache is complete, and read from, only after one
  std::optional<double> megabytes;  ///< of an epoch, where the trace shows how many elements it has and how large
};

/// A rate after a change. Steps a second.
struct Prediction {
  double estimate = 0;
  double low = 0;   ///< nine times out of ten it is between this
  double high = 0;  ///< and this
  Condition condition = Condition::none;
  std::optional<CacheOutlook> cache;  ///< only if something is cached
  Bottleneck then_limited_by;
  double input_share = 0;  ///< of the consumer's time that it then spends in GetNext

  double gain(const PipelineModel& model) const { return estimate / model.now.steps_per_s; }
};

/// Whether elements of an iterator began anew in the window: a cache after it is complete, and read from, only then.
bool shows_epoch_end(const HostMeasurement& host, IteratorId iterator);

/// What the fixes would come to together. Does nothing that changes no rate: a gain of 1.
Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, const ReplayLimits& limits = {});

/// The same for an edit that the fixes were made on top of: other cores, another consumer.
Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, Edit edit, const ReplayLimits& limits);

/// The rate if every element were ready.
Prediction predict_without_input(const PipelineModel& model, const ReplayLimits& limits = {});

/// No changes bring more than ready elements do: replays that are cut off elsewhere differ by some parts in a thousand.
void limit_to(Prediction& prediction, const Prediction& without_input);

}  // namespace doctor
