#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "fuzzing.h"
#include "trace/chrome/json_events.h"

namespace doctor {
namespace {

/// A number of decimal digits, one byte after another; nothing beyond 64 bits.
std::optional<std::uint64_t> read_digits(std::string_view text) {
  std::uint64_t number = 0;
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A JSON number as the bytes chose it.
struct PickedNumber {
  bool is_negative = false;
  std::string whole;
  std::string fraction;
  std::optional<int> exponent;

  std::string text() const {
    std::string text = (is_negative ? "-" : "") + whole;
    if (!fraction.empty()) text += "." + fraction;
    if (exponent) text += (*exponent < 0 ? "e-" : "e") + std::string(std::abs(*exponent) < 10 ? "0" : "");
    return exponent ? text + std::to_string(std::abs(*exponent)) : text;
  }
  bool is_integer() const { return fraction.empty() && !exponent; }
};

std::string pick_digits(FuzzBytes& choices, std::size_t most) {
  constexpr std::string_view kRounded = "9999999999999999999999999";
  const std::size_t count = choices.below(most + 1);
  if (choices.below(8) == 7) return std::string(kRounded.substr(0, count));
  std::string digits;
  for (std::size_t index = 0; index < count; ++index) digits += static_cast<char>('0' + choices.below(10));
  return digits;
}

PickedNumber pick_number(FuzzBytes& choices) {
  PickedNumber number;
  const unsigned shape = choices.byte();
  number.is_negative = shape % 8 == 7;
  number.whole = pick_digits(choices, 22);
  if (number.whole.size() > 1 && number.whole.front() == '0') number.whole.front() = '1';
  if (number.whole.empty()) number.whole = "0";
  if (shape / 8 % 2 == 1) number.fraction = pick_digits(choices, 24);
  if (shape / 16 % 4 == 3) number.exponent = static_cast<int>(choices.below(60)) - 30;
  return number;
}

/// What the text means in microseconds, digit by digit: the picoseconds are rounded by the digit after them.
NumberText read_slowly(const PickedNumber& number, MicrosecondTime& time) {
  constexpr std::size_t kPlaces = 6;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::string digits = number.whole + number.fraction;
  const int point = static_cast<int>(number.whole.size()) + number.exponent.value_or(0);
  const auto digit_at = [&](int index) {
    const bool is_there = index >= 0 && static_cast<std::size_t>(index) < digits.size();
    return static_cast<std::uint64_t>(is_there ? digits[static_cast<std::size_t>(index)] - '0' : 0);
  };
  std::uint64_t whole = 0;
  for (int index = 0; index < point; ++index) {
    if (whole > (kMost - digit_at(index)) / 10) return NumberText::out_of_range;
    whole = whole * 10 + digit_at(index);
  }
  std::uint64_t fraction = 0;
  for (std::size_t place = 0; place < kPlaces; ++place)
    fraction = fraction * 10 + digit_at(point + static_cast<int>(place));
  if (digit_at(point + static_cast<int>(kPlaces)) >= 5) ++fraction;
  if (fraction == 1'000'000) {
    ++whole;
    fraction = 0;
  }
  if (whole > kMost) return NumberText::out_of_range;
  const auto microseconds = static_cast<std::int64_t>(whole);
  const auto picoseconds = static_cast<std::int32_t>(fraction);
  time = number.is_negative ? MicrosecondTime{-microseconds, -picoseconds} : MicrosecondTime{microseconds, picoseconds};
  return NumberText::valid;
}

/// A string: as it stands between its quotes, and what it means.
struct PickedText {
  std::string raw;
  std::string meaning;
};

PickedText pick_text(FuzzBytes& choices) {
  constexpr std::array<std::array<std::string_view, 2>, 12> kParts = {{{"a", "a"},
                                                                       {"Iterator::", "Iterator::"},
                                                                       {"name", "name"},
                                                                       {"\\\"", "\""},
                                                                       {"\\\\", "\\"},
                                                                       {"\\n", "\n"},
                                                                       {"\\u00e9", "\xc3\xa9"},
                                                                       {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
                                                                       {"{}[],:", "{}[],:"},
                                                                       {" ", " "},
                                                                       {"\xc3\xa9", "\xc3\xa9"},
                                                                       {"12", "12"}}};
  PickedText text;
  for (unsigned parts = choices.below(6); parts > 0; --parts) {
    const auto& part = choices.pick(kParts);
    text.raw += part[0];
    text.meaning += part[1];
  }
  return text;
}

/// An event as it must be read.
struct ExpectedEvent {
  JsonEvent event;
  std::string name;
  std::string arguments;
  std::vector<std::array<std::string, 2>> members;
  std::vector<bool> are_strings;
};

/// Writes events and remembers them.
class EventsWriter {
 public:
  explicit EventsWriter(FuzzBytes& choices) : choices_(choices) {}

  void write_event() {
    if (!text_.empty()) text_ += "," + space();
    if (choices_.below(16) == 15) {
      text_ += "{" + space() + "}";
      return;
    }
    ExpectedEvent& expected = events_.emplace_back();
    text_ += "{";
    const unsigned count = 1 + choices_.below(8);
    for (unsigned member = 0; member < count; ++member) {
      text_ += (member == 0 ? "" : ",") + space();
      write_member(expected);
      text_ += space();
    }
    text_ += "}" + space();
  }

  const std::string& text() const { return text_; }
  const std::deque<ExpectedEvent>& events() const { return events_; }

 private:
  std::string space() {
    constexpr std::string_view kSpaces[] = {"", "", "", "", "", " ", "\n", "\t "};
    return std::string(choices_.pick(kSpaces));
  }

  void write_key(std::string_view key) { text_ += "\"" + std::string(key) + "\"" + space() + ":" + space(); }

  /// A process or a thread: a number, or the text of anything.
  std::uint64_t write_id() {
    const bool is_string = choices_.flip();
    if (is_string && choices_.flip()) {
      const PickedText text = pick_text(choices_);
      text_ += "\"" + text.raw + "\"";
      return number_or_hash(text.raw);
    }
    const PickedNumber number = pick_number(choices_);
    text_ += is_string ? "\"" + number.text() + "\"" : number.text();
    return number_or_hash(number.text());
  }
  static std::uint64_t number_or_hash(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    const std::optional<std::uint64_t> digits = read_digits(text.substr(is_negative ? 1 : 0));
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 63;
    if (!digits || (is_negative && *digits > kLeast)) return fnv1a_64(text);
    return is_negative ? 0 - *digits : *digits;
  }

  NumberText write_time(MicrosecondTime& time) {
    const PickedNumber number = pick_number(choices_);
    const bool is_string = choices_.below(4) == 3;
    text_ += is_string ? "\"" + number.text() + "\"" : number.text();
    return read_slowly(number, time);
  }

  /// Any value; returns it as it stands.
  std::string any_value(unsigned depth) {
    switch (choices_.below(depth == 0 ? 4 : 6)) {
      case 0:
        return pick_number(choices_).text();
      case 1:
      case 2:
        return "\"" + pick_text(choices_).raw + "\"";
      case 3:
        return choices_.flip() ? "true" : "null";
      case 4:
        return "{" + space() + "\"" + pick_text(choices_).raw + "\":" + any_value(depth - 1) + space() + "}";
      default:
        return "[" + any_value(depth - 1) + "," + space() + any_value(depth - 1) + "]";
    }
  }

  void write_arguments(ExpectedEvent& expected) {
    expected.members.clear();  // of the last of equal keys
    expected.are_strings.clear();
    std::string object = "{";
    for (unsigned count = choices_.below(5), member = 0; member < count; ++member) {
      const std::string key = pick_text(choices_).raw;
      const std::string value = any_value(2);
      object += (member == 0 ? "" : ",") + space() + "\"" + key + "\"" + space() + ":" + space() + value + space();
      const bool is_string = value.starts_with('"');
      expected.members.push_back({key, is_string ? value.substr(1, value.size() - 2) : value});
      expected.are_strings.push_back(is_string);
    }
    object += "}";
    expected.arguments = object;
    text_ += object;
  }

  void write_member(ExpectedEvent& expected) {
    constexpr std::string_view kKeys[] = {"ph", "pid", "tid", "ts", "dur", "name", "args", "cat", "pi", "tidy", ""};
    const std::string_view key = choices_.pick(kKeys);
    write_key(key);
    JsonEvent& event = expected.event;
    if (key == "ph") {
      constexpr std::string_view kPhases[] = {"X", "M", "", "BE"};
      const std::string_view phase = choices_.pick(kPhases);
      text_ += "\"" + std::string(phase) + "\"";
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "pid") {
      event.process = write_id();
    } else if (key == "tid") {
      event.thread = write_id();
    } else if (key == "ts") {
      event.start_text = write_time(event.start);
    } else if (key == "dur") {
      event.duration_text = write_time(event.duration);
    } else if (key == "name") {
      const PickedText text = pick_text(choices_);
      text_ += "\"" + text.raw + "\"";
      expected.name = text.meaning;
    } else if (key == "args") {
      write_arguments(expected);
    } else {
      text_ += any_value(2);
    }
  }

  FuzzBytes& choices_;
  std::string text_;
  std::deque<ExpectedEvent> events_;
};

void expect_event(const ExpectedEvent& expected, const JsonEvent& found, const JsonEventBatch& batch, bool splits) {
  expect(expected.event.phase == found.phase, "phases differ");
  expect(expected.event.process == found.process, "processes differ");
  expect(expected.event.thread == found.thread, "threads differ");
  expect(expected.name == found.name, "names differ");
  expect(expected.arguments == found.arguments, "arguments differ");
  expect(expected.event.start_text == found.start_text, "starts are not read alike");
  expect(expected.event.duration_text == found.duration_text, "durations are not read alike");
  const bool has_start = found.start_text == NumberText::valid;
  const bool has_duration = found.duration_text == NumberText::valid;
  expect(!has_start || expected.event.start == found.start, "starts differ");
  expect(!has_duration || expected.event.duration == found.duration, "durations differ");
  if (!splits) return expect(found.member_count == 0, "members that nobody asked for");
  expect(expected.members.size() == found.member_count, "numbers of members differ");
  for (std::size_t member = 0; member < expected.members.size(); ++member) {
    const JsonMember& read = batch.arguments_of(found)[member];
    expect(expected.members[member][0] == read.key, "keys differ");
    expect(expected.members[member][1] == read.value, "values differ");
    expect(expected.are_strings[member] == read.is_string, "kinds of values differ");
  }
}

}  // namespace
}  // namespace doctor

/// Events of a Chrome trace, written from the choices: what is read of their text by its structure, with eight digits
/// at a time, is what was written, number for number.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  FuzzBytes choices(data, size);
  const bool splits = choices.flip();
  EventsWriter writer(choices);
  do writer.write_event();
  while (!choices.is_at_end());
  std::string text = writer.text();
  const std::size_t length = text.size();
  text.append(JsonBatchParser::kPadding, static_cast<char>('0' + size % 10));  // what follows may look like a number
  static JsonBatchParser parser;
  static JsonEventBatch batch;  // its memory is used again
  batch.clear();
  const ParsedBatch parsed = parser.parse(std::string_view(text).substr(0, length), splits, batch);
  expect(parsed.has_structure && parsed.consumed == length && !parsed.is_end_of_array, "events that were not read");
  expect(batch.events.size() == writer.events().size(), "numbers of events differ");
  for (std::size_t event = 0; event < batch.events.size(); ++event) {
    expect_event(writer.events()[event], batch.events[event], batch, splits);
  }
  return 0;
}
