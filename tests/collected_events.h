#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "trace/event_reader.h"

namespace doctor {

/// An event with its text copied.
struct CollectedEvent {
  std::string plane;
  PlaneKind plane_kind = PlaneKind::other;
  std::string line;
  LineKind line_kind = LineKind::activity;
  std::uint64_t line_id = 0;
  std::string name;
  std::string short_name;
  std::size_t name_number = 0;
  Picoseconds start = 0;
  Picoseconds duration = 0;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, std::uint64_t> unsigned_integers;
  std::map<std::string, double> reals;
  std::map<std::string, std::uint32_t> text_numbers;
};

/// Keeps all events that it is given.
class CollectingSink final : public EventSink {
 public:
  static constexpr ArgumentGroups kBesideMarks = 2;

  EventHeader header;
  std::vector<CollectedEvent> events;
  std::size_t most = SIZE_MAX;  ///< done after so many
  std::optional<std::string> only_argument;
  std::set<std::string> marks;  ///< if there are some: arguments for which an event is taken whatever its name
  std::string taken;            ///< likewise: the name of events that are taken
  ArgumentGroups taken_with = kAllArguments;  ///< groups of their arguments

  void begin(const EventHeader& begun) override { header = begun; }
  void take(const TraceEvent& event) override {
    CollectedEvent& kept = events.emplace_back();
    kept.plane = event.line->plane->name;
    kept.plane_kind = event.line->plane->kind;
    kept.line = event.line->name;
    kept.line_kind = event.line->kind;
    kept.line_id = event.line->id;
    kept.name = event.name;
    kept.short_name = event.short_name;
    kept.name_number = event.name_number;
    kept.start = event.start;
    kept.duration = event.duration;
    for (const EventArgument& argument : event.arguments) {
      const std::string name(argument.name);
      if (argument.type == ArgumentType::text) kept.texts[name] = argument.text;
      kept.text_numbers[name] = argument.text_number;
      if (argument.type == ArgumentType::integer) kept.integers[name] = argument.integer;
      if (argument.type == ArgumentType::unsigned_integer) kept.unsigned_integers[name] = argument.unsigned_integer;
      if (argument.type == ArgumentType::real) kept.reals[name] = argument.real;
    }
  }
  ArgumentGroups groups_of(std::string_view argument) const override {
    if (!marks.empty()) return marks.contains(std::string(argument)) ? kMarks : kBesideMarks;
    return !only_argument || argument == *only_argument ? kAllArguments : ArgumentGroups{};
  }
  EventUse use_of(std::string_view name) override {
    if (marks.empty()) return {};
    return {name == taken, name == taken ? taken_with : kMarks};
  }
  bool is_done() const override { return events.size() >= most; }
};

/// Keeps all bytes that it is given.
class MemorySink final : public ByteSink {
 public:
  std::string bytes;
  bool is_finished = false;
  bool is_full = false;  ///< refuses what comes

  Result<void> write(std::string_view written) override {
    if (is_full) return fail("no space is left", "memory");
    bytes += written;
    return {};
  }
  Result<void> finish() override {
    is_finished = true;
    return {};
  }
};

}  // namespace doctor
