#include "words/pace_words.h"

#include <fmt/format.h>

#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

std::string mostly_in(const HostMeasurement& host, IteratorId culprit) {
  return culprit == kNoIterator ? "" : ", mostly in " + describe(host, culprit);
}

/// "about every 20 calls, from call 20 to call 200", "each is the first call of an epoch".
std::string spacing(const Stalls& stalls) {
  if (stalls.begin_epochs() && stalls.epoch_starts == stalls.count) return "each is the first call of an epoch";
  if (stalls.begin_epochs()) return fmt::format("{} of them are the first call of an epoch", stalls.epoch_starts);
  const std::string range = fmt::format("from call {} to call {}", stalls.first + 1, stalls.last + 1);
  if (stalls.is_regular) return fmt::format("about every {} calls, {}", stalls.distance, range);
  return stalls.distance < 2 ? "mostly one after another, " + range : range;
}

/// "58.2 ms", or "5.17 to 134.6 ms" where that would mislead.
std::string lengths(const Stalls& stalls) {
  if (stalls.longest <= 2 * stalls.shortest) return format_time(stalls.typical);
  return fmt::format("{} to {}", format_time(stalls.shortest), format_time(stalls.longest));
}

}  // namespace

std::string describe_stalls(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.stalls) return {};
  const Stalls& stalls = *pipeline.stalls;
  return fmt::format("{} of {} take {}, the others {}: {}; {} in all ({} of the time){}", format_count(stalls.count),
                     format_count(pipeline.calls.size(), "call"), lengths(stalls), format_time(stalls.usual),
                     spacing(stalls), format_time(stalls.waited), format_share(stalls.share),
                     mostly_in(host, stalls.culprit));
}

std::string describe_pace_change(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.pace_change) return {};
  const PaceChange& change = *pipeline.pace_change;
  return fmt::format("From call {} on GetNext takes {} instead of {} ({} of the time instead of {}){}", change.from + 1,
                     format_time(change.after), format_time(change.before), format_share(change.share_after),
                     format_share(change.share_before), mostly_in(host, change.culprit));
}

}  // namespace doctor
