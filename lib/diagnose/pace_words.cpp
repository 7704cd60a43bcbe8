#include "diagnose/pace_words.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "diagnose/dataset_words.h"

namespace doctor {
namespace {

std::string mostly_in(const HostMeasurement& host, IteratorId culprit) {
  return culprit == kNoIterator ? "" : ", mostly in " + describe(host.iterators[index_of(culprit)]);
}

std::string spacing(std::size_t distance) {
  return distance < 2 ? "one after another" : fmt::format("about every {} calls", distance);
}

}  // namespace

std::string describe_stalls(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.stalls) return {};
  const Stalls& stalls = *pipeline.stalls;
  return fmt::format("{} of {} take {}, the others {}: {}, from call {} to call {}{}; the median hides them",
                     format_count(stalls.count), format_count(pipeline.calls.size(), "call"),
                     format_time(stalls.typical), format_time(stalls.usual), spacing(stalls.distance), stalls.first + 1,
                     stalls.last + 1, mostly_in(host, stalls.culprit));
}

std::string describe_pace_change(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.pace_change) return {};
  const PaceChange& change = *pipeline.pace_change;
  return fmt::format("From call {} on GetNext takes {} instead of {} ({} of the time instead of {}){}", change.from + 1,
                     format_time(change.after), format_time(change.before), format_share(change.share_after),
                     format_share(change.share_before), mostly_in(host, change.culprit));
}

}  // namespace doctor
