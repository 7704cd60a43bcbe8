#pragma once

#include <unordered_map>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// A token of what makes an event the same in another file: its name, and its times on one clock.
std::uint64_t event_token(std::string_view name, std::string_view other_name, Picoseconds start, Picoseconds duration);

/// Recognises events that another file has brought before: a merged timeline repeats those of the steps beside it. An
/// event that one file holds twice counts twice. A token is kept for each event.
class RepeatedEvents {
 public:
  /// Tests whether earlier files hold an event with this token at least as often as this file does so far.
  bool is_repeat(std::uint64_t token);

  /// Ends a file: returns how many of its events were in files before it.
  std::uint64_t end_file();

 private:
  std::vector<std::uint64_t> before_;  ///< tokens of earlier files, sorted
  std::vector<std::uint64_t> fresh_;   ///< tokens of this file
  std::unordered_map<std::uint64_t, std::size_t> repeated_;
  std::uint64_t repeat_count_ = 0;
};

/// Hands on every event of the files of one trace once: without those that other files have brought, and without the
/// second drawing of an event (TraceEvent::is_repeat).
class EventsOnce final : public EventSink {
 public:
  /// `files` is shared by the files of the trace; null if it is one file.
  EventsOnce(EventSink& next, RepeatedEvents* files) : next_(next), files_(files) {}

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;
  void end_line(const EventLine& line) override { next_.end_line(line); }
  ArgumentGroups groups_of(std::string_view argument) const override { return next_.groups_of(argument); }
  ArgumentGroups device_groups_of(std::string_view argument) const override { return next_.device_groups_of(argument); }
  bool uses_line(const EventLine& line) const override { return next_.uses_line(line); }
  EventUse use_of(std::string_view name) override { return next_.use_of(name); }
  bool is_done() const override { return next_.is_done(); }

 private:
  EventSink& next_;
  RepeatedEvents* files_;
  std::int64_t origin_ns_ = 0;
};

}  // namespace doctor
