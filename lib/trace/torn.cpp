#include "trace/torn.h"

#include <fmt/format.h>

#include <array>

#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::string_view kCutOff = "is cut off";
constexpr std::string_view kDamaged = "is damaged";
constexpr std::string_view kCutOffOrDamaged = "is cut off or damaged";
constexpr std::string_view kWrongTimes = "has threads whose times do not fit together";
constexpr std::string_view kAgain = "Record or copy it again";
constexpr std::string_view kNotClocked = "it does not show how long training waited";
constexpr std::string_view kUnreadable = "could not be read";

/// What weighs most comes first: it is what describe_tear() says of a file with several.
constexpr std::array<LossReason, 32> kReasons = {{
    {"files_unreadable", kUnreadable},
    {"document_cut_off", kCutOff},
    {kCutByProfiler, "holds only its first events, because the profiler writes no more of them",
     "Read the .xplane.pb of the recording, or record fewer steps"},
    // Read errors, and gzip data that ends early or is damaged. What follows the place is gone.
    {"input_cut_off", kCutOffOrDamaged},
    {"input_unreadable_after", kCutOffOrDamaged},
    // An XSpace that ends inside a plane says so too, see Loss::kept_share.
    {"messages_malformed", kDamaged},
    {"planes_without_names", kDamaged},
    {"planes_misnamed", kDamaged},
    {"iterators_without_events", "lacks events of iterators that it lists"},
    {"hosts_merged", "holds several hosts as if they were one"},
    {"events_without_length", "has lost how long its events took", kAgain, kNotClocked},
    {"calls_in_themselves", "has calls that go on while their thread makes the next one", kAgain, kNotClocked},
    {"calls_repeated", "holds calls twice", kAgain, kNotClocked},
    {"events_outside_recording", kWrongTimes, kAgain, kNotClocked},
    {"lines_of_other_clocks", kWrongTimes, kAgain, kNotClocked},
    {"events_malformed", kDamaged},
    {"events_too_large", kDamaged},
    {"events_of_too_many_threads", "has too many threads to be read whole"},
    {"planes_too_many", "has too many planes to be read whole"},
    // From here on the bytes were there.
    {"calls_of_too_many_iterators", {}},
    {"events_negative_duration", {}},
    {"events_of_unknown_phase", {}},
    {"events_outside_time_range", {}},
    {"events_unpaired", {}},  // the profiler began or ended inside of them
    {"events_without_duration", {}},
    {"events_without_phase", {}},
    {"events_without_time", {}},
    {"lines_with_late_timestamp", {}},
    {"clock_unrelated", {}},
    {"device_planes_unread", {}},  // tf.data runs on the host
    {"planes_repeated", {}},       // all is there, but twice
    {kEmptyXSpace, {}},            // what was read in its place may be whole
}};

/// The first reason for which a part of the file is missing; null if none is.
const LossReason* tear_of(const Loss& loss) {
  if (loss.counts.empty()) return nullptr;
  const auto* const found = std::find_if(kReasons.begin(), kReasons.end(), [&](const LossReason& reason) {
    return !reason.tear.empty() && loss.counts.contains(std::string(reason.name));
  });
  return found == kReasons.end() ? nullptr : found;
}

}  // namespace

std::span<const LossReason> loss_reasons() {
  return kReasons;
}

bool is_limited_by_profiler(const Loss& loss) {
  return loss.counts.contains(std::string(kCutByProfiler)) || loss.counts.contains(std::string(kEmptyXSpace));
}

bool is_torn(const Loss& loss) {
  return tear_of(loss) != nullptr;
}

std::string describe_tear(const Loss& loss) {
  const LossReason* const tear = tear_of(loss);
  if (tear == nullptr) return {};
  if (!loss.kept_share || tear->tear == kUnreadable) return std::string(tear->tear);
  return fmt::format("{} after at most {}", kCutOff, format_share(*loss.kept_share));
}

std::string_view effect_of_tear(const Loss& loss) {
  const LossReason* const tear = tear_of(loss);
  return tear == nullptr ? std::string_view() : tear->effect;
}

std::string_view cure_of_tear(const Loss& loss) {
  const LossReason* const tear = tear_of(loss);
  return tear == nullptr ? std::string_view() : tear->cure;
}

}  // namespace doctor
