#include "trace/chrome/chrome_events.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "io/trace_folder.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Events that profilers write into a Chrome trace.
constexpr std::uint64_t kMostEvents = 1'000'000;

/// The same where they were told otherwise; nullopt where they were not.
std::optional<std::uint64_t> most_events_by_environment() {
  const char* const told = std::getenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS");
  if (told == nullptr) return std::nullopt;
  std::uint64_t most = 0;
  const std::from_chars_result read = std::from_chars(told, told + std::strlen(told), most);
  return read.ec == std::errc() && most > 0 ? std::optional(most) : std::nullopt;
}

/// Why a number of an event cannot be used.
const char* reason_for(NumberText text, const char* reason_if_missing) {
  if (text == NumberText::missing) return reason_if_missing;
  return text == NumberText::malformed ? "events_malformed" : kOutsideTimeRange;
}

}  // namespace

const char* const kReasonUnpaired = "events_unpaired";
const char* const kReasonWithoutPhase = "events_without_phase";

const char* reason_without_time(NumberText text) {
  return reason_for(text, "events_without_time");
}

const char* reason_without_duration(NumberText text) {
  return reason_for(text, "events_without_duration");
}

const char* reason_to_leave_out(char phase) {
  switch (phase) {
    case 's':
    case 't':
    case 'f':
      return "flow_events";
    case 'C':
      return "counter_events";
    case 'b':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
      return "async_events";
    case 'N':
    case 'O':
    case 'D':
      return "object_events";
    default:
      return "events_of_unknown_phase";
  }
}

void OpenChromeEvents::begin(const JsonEvent& event, Picoseconds start) {
  begun_[{event.process, event.thread}].push_back({std::string(event.name), std::string(event.arguments), start});
}

const ChromeEvent* OpenChromeEvents::end(const JsonEvent& event) {
  const auto thread = begun_.find({event.process, event.thread});
  if (thread == begun_.end() || thread->second.empty()) return nullptr;
  ended_ = std::move(thread->second.back());
  thread->second.pop_back();
  members_.clear();
  JsonMembers of_end(event.arguments);
  for (JsonMember member; of_end.next(member);) members_.push_back(member);
  std::unordered_set<std::string_view> given;
  for (const JsonMember& member : members_) given.insert(member.key);
  JsonMembers of_begin(ended_.arguments);
  for (JsonMember member; of_begin.next(member);) {
    if (!given.contains(member.key)) members_.push_back(member);
  }
  whole_ = {event.process, event.thread, ended_.name, ended_.start, 0, members_};
  return &whole_;
}

std::uint64_t OpenChromeEvents::size() const {
  std::uint64_t open = 0;
  for (const auto& thread : begun_) open += thread.second.size();
  return open;
}

void add_document_loss(const JsonDocument& document, const ByteSource& source, std::uint64_t event_count, Loss& loss) {
  if (document.malformed_events > 0) loss.add("events_malformed", document.malformed_events);
  if (document.oversized_events > 0) loss.add("events_too_large", document.oversized_events);
  if (document.read_error) {
    loss.add("input_unreadable_after");
    loss.notes.push_back(
        fmt::format("{}; {} events before that place were read", to_string(*document.read_error), event_count));
  } else if (document.is_cut_off) {
    loss.add("document_cut_off");
    loss.notes.push_back(fmt::format("{}: the list of events is cut off at byte {}; {} events were read", source.name(),
                                     document.bytes, event_count));
  }
}

void add_profiler_cut(const ByteSource& source, std::uint64_t event_count, Loss& loss) {
  if (event_count != kMostEvents && event_count != most_events_by_environment()) return;
  loss.add("document_cut_by_profiler");
  const std::optional<XSpaceBeside> xspace = xspace_beside(source.name());
  std::string whole;
  if (!xspace) whole = "; the .xplane.pb of the recording is whole";
  if (xspace && !xspace->is_empty) whole = "; the .xplane.pb beside it is whole";
  loss.notes.push_back(fmt::format("{}: the profiler wrote only the first {}{}", source.name(),
                                   format_count(event_count, "event"), whole));
}

std::optional<Error> reason_not_a_trace(const JsonDocument& document, const ByteSource& source,
                                        std::uint64_t phase_count, std::uint64_t other_count) {
  if (phase_count > 0) return std::nullopt;
  if (document.read_error) return document.read_error;
  if (!document.has_events) {
    return Error{"no list of trace events was found", source.name(), std::nullopt,
                 "a Chrome trace is a JSON array of events, or an object with the member traceEvents"};
  }
  const bool is_empty = other_count == 0 && document.malformed_events == 0 && document.oversized_events == 0;
  if (is_empty && !document.is_cut_off) return std::nullopt;
  return Error{is_empty ? "the document is cut off before the first event" : "none of the elements is a trace event",
               source.name(), document.bytes, "record the trace again, or check that this is the right file"};
}

}  // namespace doctor
