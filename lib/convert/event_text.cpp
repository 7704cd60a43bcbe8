#include "convert/event_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <set>

#include "text/json_page.h"

// JSON is written by hand here, not with nlohmann: a conversion writes every event of a trace, hundreds of bytes each,
// and building a value for each of them would take most of its time.

namespace doctor {
namespace {

/// Finds names of arguments that an event has twice. Most events have a few, hostile ones any number.
class UsedNames {
 public:
  /// Whether it is the first of this name.
  bool add(std::string_view name) {
    if (few_count_ < few_.size()) {
      const auto end = few_.begin() + static_cast<std::ptrdiff_t>(few_count_);
      if (std::find(few_.begin(), end, name) != end) return false;
      few_[few_count_++] = name;
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(name).second;
  }

 private:
  std::array<std::string_view, 32> few_;
  std::size_t few_count_ = 0;
  std::set<std::string_view> many_;
};

}  // namespace

void append_microseconds(std::string& out, Picoseconds time) {
  // Not std::abs(): the least number has no opposite.
  const std::uint64_t size = time < 0 ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  constexpr auto kUnit = static_cast<std::uint64_t>(kPicosecondsPerMicrosecond);
  if (time < 0) out += '-';
  append_integer(out, size / kUnit);
  const std::uint64_t fraction = size % kUnit;
  if (fraction == 0) return;
  const fmt::format_int digits(kUnit + fraction);  // "1000345": the digits of the fraction with their zeros in front
  std::size_t length = digits.size();
  while (digits.data()[length - 1] == '0') --length;
  out += '.';
  out.append(digits.data() + 1, length - 1);
}

void append_value(std::string& out, const EventArgument& argument) {
  switch (argument.type) {
    case ArgumentType::text:
      out += argument.text;
      return;
    case ArgumentType::integer:
      append_integer(out, argument.integer);
      return;
    case ArgumentType::unsigned_integer:
      append_integer(out, argument.unsigned_integer);
      return;
    case ArgumentType::real:
      fmt::format_to(std::back_inserter(out), "{}", argument.real);
      return;
  }
}

void append_arguments(std::string& out, std::string_view long_name, std::span<const EventArgument> arguments) {
  constexpr std::string_view kLongName = "long_name";
  UsedNames used;
  out += '{';
  if (!long_name.empty()) {
    used.add(kLongName);
    out += "\"long_name\":";
    append_json_string(out, long_name);
  }
  std::list<std::string> numbered;  // `used` points into it; allocates nothing while it is empty
  std::size_t position = 0;
  for (const EventArgument& argument : arguments) {
    if (out.back() != '{') out += ',';
    std::string_view name = argument.name;
    ++position;
    // Where there are many, counting up from 2 would take for ever.
    for (std::size_t number = position < 32 ? 2 : position; !used.add(name); ++number) {
      name = numbered.emplace_back(fmt::format("{}_{}", argument.name, number));
    }
    append_json_string(out, name);
    out += ':';
    if (argument.type == ArgumentType::text) {
      append_json_string(out, argument.text);
    } else {
      out += '"';
      append_value(out, argument);
      out += '"';
    }
  }
  out += '}';
}

}  // namespace doctor
