// What makes an XSpace damaged, and what is said of it.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collected_events.h"
#include "small_pipeline.h"
#include "trace/torn.h"
#include "trace/wire.h"

namespace doctor::xspace_damage_test {
namespace {

/// The first note on the losses of these bytes, one of which must have this reason, and count as a tear.
std::string note_of_tear(const std::string& bytes, const std::string& reason) {
  const Result<Trace> trace = SyntheticTrace::read(bytes);
  REQUIRE(trace);
  CHECK(trace->loss.counts.contains(reason));
  CHECK(is_torn(trace->loss));
  return trace->loss.notes.empty() ? "" : trace->loss.notes.front();
}

TEST_CASE("a plane that is named twice, or as no profiler names one, is damaged") {
  const xspace::XSpace space = small_pipeline().to_message();
  // A length that was flipped turns what follows a plane's name into another name, so that its iterators are nobody's.
  const std::string second_name("\x12\x03xyz", 5);
  xspace::XPlane host = space.planes(0);
  const std::string bytes = host.SerializeAsString() + second_name;
  xspace::XSpace rest = space;
  rest.mutable_planes()->DeleteSubrange(0, 1);
  std::string twice("\x0a", 1);
  for (std::size_t length = bytes.size(); length > 0; length >>= 7) {
    twice += static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
  }
  twice += bytes + rest.SerializeAsString();
  CHECK(note_of_tear(twice, "planes_misnamed").ends_with("the file is damaged there"));

  xspace::XSpace renamed = space;
  renamed.mutable_planes(0)->set_name("/device:GPU:0");  // only hosts have iterators
  CHECK_FALSE(note_of_tear(renamed.SerializeAsString(), "planes_misnamed").empty());
  renamed = space;
  renamed.add_planes()->set_name(
      "Task\x01"
      "Environment");
  CHECK_FALSE(note_of_tear(renamed.SerializeAsString(), "planes_misnamed").empty());
}

/// A field of type bytes.
std::string field_of(std::uint32_t field, std::string_view bytes) {
  std::string text(1, static_cast<char>(field << 3 | 2));
  std::size_t length = bytes.size();
  for (; length > 0x7f; length >>= 7) text += static_cast<char>((length & 0x7f) | 0x80);
  return text + static_cast<char>(length) + std::string(bytes);
}

/// The message, where each that the path leads to has its last field, if it has it, once more at its end.
std::string with_repeat(std::string_view message, std::span<const std::uint32_t> path) {
  std::string written;
  std::string repeat;
  const char* begin = message.data();
  WireMessage fields(message);
  for (WireField field; fields.next(field);) {
    const char* const end = fields.rest().data();
    const bool is_on_path = field.field() == path.front();
    if (is_on_path && path.size() > 1) {
      written += field_of(field.field(), with_repeat(field.bytes(), path.subspan(1)));
    } else {
      written.append(begin, end);
      if (is_on_path) repeat.assign(begin, end);
    }
    begin = end;
  }
  return written + repeat;
}

// The last of the two counted, and what was healthy by it was believed.
TEST_CASE("a field that is there once at most is damage where it comes again") {
  const std::string bytes = small_pipeline().to_xspace();
  constexpr std::string_view kEvents = "events_malformed";
  constexpr std::string_view kMessages = "messages_malformed";
  struct Case {
    std::vector<std::uint32_t> path;
    std::string_view reason;
  };
  const std::vector<Case> cases = {
      {{1, 3, 4, 1}, kEvents},     // metadata id of an event
      {{1, 3, 4, 2}, kEvents},     // its offset
      {{1, 3, 4, 3}, kEvents},     // its duration
      {{1, 3, 4, 4, 1}, kEvents},  // the name of a statistic
      {{1, 3, 4, 4, 3}, kEvents},  // a value: unsigned
      {{1, 3, 4, 4, 4}, kEvents},  // signed
      {{1, 3, 4, 4, 7}, kEvents},  // a reference
      {{1, 3, 1}, kMessages},      // id of a line
      {{1, 3, 2}, kMessages},      // its name
      {{1, 3, 3}, kMessages},      // its timestamp
      {{1, 4, 1}, kMessages},      // key of the name of an event
      {{1, 4, 2}, kMessages},      // what it leads to
      {{1, 4, 2, 1}, kMessages},   // id in it
      {{1, 4, 2, 2}, kMessages},   // the name itself
      {{1, 5, 1}, kMessages},      // the same of a statistic
      {{1, 5, 2}, kMessages},     {{1, 5, 2, 1}, kMessages}, {{1, 5, 2, 2}, kMessages},
  };
  for (const Case& c : cases) {
    CAPTURE(c.path);
    const std::string twice = with_repeat(bytes, c.path);
    REQUIRE(twice.size() > bytes.size());
    const Result<Trace> trace = SyntheticTrace::read(twice);
    REQUIRE(trace);
    CHECK(trace->loss.counts.contains(std::string(c.reason)));
    CHECK(is_torn(trace->loss));
    CollectingSink sink;
    const Result<EventTotals> totals = read_xspace(*memory_source(twice, "test"), sink);
    REQUIRE(totals);
    CHECK(totals->loss.counts.contains(std::string(c.reason)));
  }
}

TEST_CASE("iterators that a plane lists and no event has tell of events that are gone") {
  xspace::XSpace space = small_pipeline().to_message();
  xspace::XEventMetadata& gone = (*space.mutable_planes(0)->mutable_event_metadata())[4'000];
  gone.set_id(4'000);
  gone.set_name("Iterator::Root::Prefetch::Shuffle");
  CHECK(note_of_tear(space.SerializeAsString(), "iterators_without_events")
            .ends_with("lists 1 iterator without an event of it: events are missing"));
  // What else is listed may be left over: Python frames, ops of other windows.
  gone.set_name("MatMul:MatMul");
  CHECK(SyntheticTrace::read(space.SerializeAsString())->loss.complete());
}

TEST_CASE("the hosts of files that were appended to one another are not one host") {
  SyntheticTrace other = small_pipeline();
  other.iterator("python", "Iterator::Root::Cache", 9, 1, 500, 10);
  const std::string note = note_of_tear(small_pipeline().to_xspace() + other.to_xspace(), "hosts_merged");
  CHECK(note.find("the threads of 2 hosts as if they were one") != std::string::npos);
}

}  // namespace
}  // namespace doctor::xspace_damage_test
