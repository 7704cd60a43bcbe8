#include "trace/event_reader.h"

#include <array>

#include "trace/json_number.h"

namespace doctor {
namespace {

/// Lines that XProf derives for devices and, without device planes, for the host: their time is that of other lines.
constexpr std::array<std::string_view, 9> kDerivedLines = {
    "TensorFlow Ops", "TensorFlow Name Scope", "XLA Ops",     "XLA Modules",        "Async XLA Ops",
    "Framework Ops",  "Framework Name Scope",  "Source code", "Sparse Core Modules"};

/// Of devices without streams: what is said of ops, of copies beside them and of the runtime. None is work of a core
/// beyond its ops. Source: tsl/profiler/utils/xplane_schema.h, and a trace of four TPUs.
constexpr std::array<std::string_view, 6> kLinesBesideOps = {
    "XLA TraceMe", "Overlay", "Launch Stats", "_counters_", "Host Offload Ops", "Tensor Core Sync Flag"};

constexpr std::array<std::string_view, 2> kOwnOps = {"XLA Ops", "Sparse Core Ops"};

constexpr std::array<std::string_view, 2> kStepLines = {"Steps", "Sparse Core Steps"};

template <std::size_t kCount>
bool is_one_of(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

void EventTotals::add(const EventTotals& piece, const WorkOptions& work) {
  event_count += piece.event_count;
  timed_count += piece.timed_count;
  loss.add(piece.loss);
  if (work.progress != nullptr) work.progress->event_count = event_count;
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
  if (is_one_of(name, kStepLines)) return LineKind::steps;
  return is_one_of(name, kDerivedLines) ? LineKind::derived : LineKind::activity;
}

LineKind kind_of_line(const EventPlane& plane, std::string_view name) {
  const bool has_streams = plane.kind != PlaneKind::device || plane.name.starts_with("/device:GPU");
  if (has_streams) return kind_of_line(name);
  if (is_one_of(name, kOwnOps)) return LineKind::activity;
  return is_one_of(name, kLinesBesideOps) ? LineKind::derived : kind_of_line(name);
}

std::string_view without_encoded_arguments(std::string_view name) {
  // "worker #3" is a name as it stands.
  return name.ends_with('#') ? name.substr(0, name.find('#')) : name;
}

bool is_whole_device(std::string_view name) {
  return kind_of_plane(name) == PlaneKind::device && name.find(" SparseCore ") == std::string_view::npos;
}

PlaneKind kind_of_plane(std::string_view name) {
  if (name.starts_with("/device:")) return PlaneKind::device;
  return name.starts_with("/host:CPU") ? PlaneKind::host : PlaneKind::other;
}

}  // namespace doctor
