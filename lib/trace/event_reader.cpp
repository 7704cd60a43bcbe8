#include "trace/event_reader.h"

#include <algorithm>
#include <array>

#include "base/packed.h"
#include "trace/json_number.h"

namespace doctor {
namespace {

/// Lines that XProf derives for devices and, without device planes, for the host: their time is that of other lines.
constexpr std::array<std::string_view, 8> kDerivedLines = {
    "TensorFlow Ops", "TensorFlow Name Scope", "XLA Ops",    "XLA Modules", "Async XLA Ops",
    "Framework Ops",  "Framework Name Scope",  "Source code"};

constexpr std::string_view kStepLine = "Steps";

}  // namespace

std::optional<std::int64_t> EventArgument::as_integer() const {
  switch (type) {
    case ArgumentType::integer:
      return integer;
    case ArgumentType::unsigned_integer:
      return static_cast<std::int64_t>(unsigned_integer);
    case ArgumentType::text: {
      const std::optional<std::uint64_t> token = parse_token(text);
      return token ? std::optional(static_cast<std::int64_t>(*token)) : std::nullopt;
    }
    case ArgumentType::real:
      return std::nullopt;
  }
  return std::nullopt;
}

const EventArgument* TraceEvent::find(std::string_view argument) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const EventArgument& candidate) { return candidate.name == argument; });
  return found == arguments.end() ? nullptr : &*found;
}

std::string_view TraceEvent::find_text(std::string_view argument) const {
  const EventArgument* const found = find(argument);
  return found == nullptr || found->type != ArgumentType::text ? std::string_view{} : found->text;
}

std::optional<std::int64_t> TraceEvent::find_integer(std::string_view argument) const {
  const EventArgument* const found = find(argument);
  return found == nullptr ? std::nullopt : found->as_integer();
}

Picoseconds time_since_origin(std::int64_t timestamp_ns, std::int64_t origin_ns) {
  // Epoch nanoseconds overflow as picoseconds, so only the difference is scaled; a line that is days away is kept out
  // of range for the reader to count.
  std::int64_t since_origin = 0;
  constexpr std::int64_t kFarAway = PackedSpan::kMaxStart / kPicosecondsPerNanosecond * 2;
  if (__builtin_sub_overflow(timestamp_ns, origin_ns, &since_origin)) since_origin = kFarAway;
  return std::clamp(since_origin, -kFarAway, kFarAway) * kPicosecondsPerNanosecond;
}

LineKind kind_of_line(std::string_view name) {
  if (name == kStepLine) return LineKind::steps;
  const bool is_derived = std::find(kDerivedLines.begin(), kDerivedLines.end(), name) != kDerivedLines.end();
  return is_derived ? LineKind::derived : LineKind::activity;
}

std::string_view without_encoded_arguments(std::string_view name) {
  // "worker #3" is a name as it stands.
  return name.ends_with('#') ? name.substr(0, name.find('#')) : name;
}

PlaneKind kind_of_plane(std::string_view name) {
  if (name.starts_with("/device:")) return PlaneKind::device;
  return name.starts_with("/host:CPU") ? PlaneKind::host : PlaneKind::other;
}

}  // namespace doctor
