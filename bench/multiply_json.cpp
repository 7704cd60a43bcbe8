// Usage: multiply_json BASE COPIES OUTPUT
//
// Writes a Chrome trace that is COPIES times as long as the run in BASE: the complete events (phase X) are repeated,
// each copy after the one before. Only the digits of `ts` change, and the ids of functions, which are each copy's own
// as in a run that went on; all other bytes are those of BASE, metadata events appear once, and one copy is BASE
// itself.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "multiply_main.h"

namespace {

/// A complete event, cut where the number of its `ts` and the id of its function are. Times in picoseconds.
struct Event {
  std::string_view before;
  std::string_view between;  ///< from the time to the id, or to the end
  std::optional<std::int64_t> function;
  std::string_view after;  ///< the id
  std::int64_t start = 0;
  std::int64_t duration = 0;
};

/// A trace as TensorFlow writes it, cut into its parts. Views point into its text.
struct Document {
  std::string_view before;  ///< up to the first complete event, metadata events included
  std::vector<Event> events;
  std::string_view after;  ///< from the comma after the last complete event
};

/// The end of the JSON object that starts at `start`.
std::size_t end_of_object(std::string_view text, std::size_t start) {
  int depth = 0;
  for (std::size_t position = start; position < text.size(); ++position) {
    switch (text[position]) {
      case '"':
        for (++position; position < text.size() && text[position] != '"'; ++position) {
          if (text[position] == '\\') ++position;
        }
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) return position + 1;
        break;
      default:
        break;
    }
  }
  throw std::runtime_error("the base ends within an event");
}

/// The text of the number after `key`. TensorFlow writes `ts` and `dur` before the first value that could hold their
/// like.
std::string_view number_after(std::string_view event, std::string_view key) {
  const std::size_t found = event.find(key);
  if (found == std::string_view::npos) throw std::runtime_error("an event without " + std::string(key));
  const std::string_view rest = event.substr(found + key.size());
  return rest.substr(0, rest.find_first_not_of("0123456789.-+eE"));
}

/// TensorFlow prints doubles of microseconds with 17 digits; the time that was meant has 6 decimals.
std::int64_t to_picoseconds(std::string_view microseconds) {
  return std::llround(std::stod(std::string(microseconds)) * 1e6);
}

/// The id of a function as TensorFlow prints it, a number in quotes. An iterator's `id` is the same in every copy.
std::string_view function_id(std::string_view event) {
  constexpr std::string_view kKey = "\"id\":\"";
  const std::size_t found = event.find(kKey);
  if (found == std::string_view::npos || event.find("\"name\":\"Iterator::") != std::string_view::npos) return {};
  const std::string_view rest = event.substr(found + kKey.size());
  return rest.substr(0, rest.find('"'));
}

Event cut_event(std::string_view text) {
  const std::string_view start = number_after(text, "\"ts\":");
  const auto offset = static_cast<std::size_t>(start.data() - text.data());
  Event event;
  event.before = text.substr(0, offset);
  event.between = text.substr(offset + start.size());
  event.start = to_picoseconds(start);
  event.duration = to_picoseconds(number_after(text, "\"dur\":"));
  const std::string_view id = function_id(event.between);
  if (id.empty()) return event;
  const auto id_offset = static_cast<std::size_t>(id.data() - event.between.data());
  event.function = std::stoll(std::string(id));
  event.after = event.between.substr(id_offset + id.size());
  event.between = event.between.substr(0, id_offset);
  return event;
}

Document cut_document(std::string_view text) {
  constexpr std::string_view kList = "\"traceEvents\":[";
  std::size_t position = text.find(kList);
  if (position == std::string_view::npos) throw std::runtime_error("the base has no traceEvents");
  position += kList.size();

  Document document;
  while (position < text.size() && text[position] == '{') {
    const std::size_t end = end_of_object(text, position);
    const std::string_view event = text.substr(position, end - position);
    if (event.find("\"ph\":\"X\"") != std::string_view::npos) {
      if (document.events.empty()) document.before = text.substr(0, position);
      document.events.push_back(cut_event(event));
      document.after = text.substr(end);
    } else if (!document.events.empty() && event != "{}") {
      throw std::runtime_error("another event is between complete ones");
    }
    position = end < text.size() && text[end] == ',' ? end + 1 : end;
  }
  if (document.events.empty()) throw std::runtime_error("the base has no complete events");
  return document;
}

/// From the earliest start to the latest end in whole milliseconds, so that no copy overlaps the next one.
std::int64_t duration_of_run(const std::vector<Event>& events) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
  for (const Event& event : events) {
    start = std::min(start, event.start);
    end = std::max(end, event.start + event.duration);
  }
  constexpr std::int64_t kMillisecond = 1'000'000'000;
  return (end - start + kMillisecond - 1) / kMillisecond * kMillisecond;
}

void append_time(std::string& text, std::int64_t picoseconds) {
  // Below 2^53 ps the double nearest to the decimal time gives the time back when it is rounded to picoseconds.
  if (picoseconds > std::int64_t{1} << 53) throw std::runtime_error("so many copies leave the range of exact times");
  char digits[32];
  const int length = std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(picoseconds) / 1e6);
  text.append(digits, static_cast<std::size_t>(length));
}

void write_copies(std::ofstream& output, const std::vector<Event>& events, std::uint64_t copies) {
  const std::int64_t shift = duration_of_run(events);
  std::string text;
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    for (const Event& event : events) {
      if (copy > 0 || &event != events.data()) text += ',';
      text += event.before;
      append_time(text, event.start + static_cast<std::int64_t>(copy) * shift);
      text += event.between;
      // Ids are drawn from all numbers, so the next ones are free.
      if (event.function) text += std::to_string(*event.function + static_cast<std::int64_t>(copy));
      text += event.after;
      if (text.size() >= std::size_t{1} << 20) {
        output << text;
        text.clear();
      }
    }
  }
  output << text;
}

void multiply(const std::string& base, std::uint64_t copies, const char* path) {
  std::ifstream input(base, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
  if (!input) throw std::runtime_error("cannot read " + base);
  const Document document = cut_document(text);

  std::ofstream output(path, std::ios::binary);
  output << document.before;
  write_copies(output, document.events, copies);
  output << document.after;
  output.close();
  if (!output) throw std::runtime_error("cannot write the output");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::multiply_main(argc, argv, multiply);
}
