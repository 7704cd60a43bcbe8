#include "convert/event_text.h"

#include <iterator>
#include <list>
#include <set>

#include "base/short_text.h"
#include "text/escape.h"
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

/// Bytes that JSON and CSV have in a text as they are, once it is in quotes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x7f; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

/// 8 bytes with a byte that is not plain have a bit set here; ASCII that is plain has none.
constexpr std::uint64_t bits_of_others(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101'0101'0101'0101u;
  const std::uint64_t quotes = bytes ^ (kEach * '"');
  const std::uint64_t backslashes = bytes ^ (kEach * '\\');
  const std::uint64_t below_space = bytes - kEach * 0x20;
  const std::uint64_t above_tilde = bytes | (bytes + kEach);
  return (below_space | above_tilde | (quotes - kEach) | (backslashes - kEach)) & (kEach * 0x80);
}

bool is_plain(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (text.size() < kWord) {
    return std::all_of(text.begin(), text.end(), [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
  }
  std::uint64_t others = bits_of_others(load_word(text.data() + text.size() - kWord));
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord) others |= bits_of_others(load_word(text.data() + at));
  return others == 0;
}

/// Which names were met, as far as it can be told at once.
class NameFilter {
 public:
  /// Whether a name may have been met before.
  bool meet(std::string_view name) {
    const std::uint64_t hash = (leading_word(name) ^ name.size()) * 0x9e37'79b9'7f4a'7c15u;
    const std::uint64_t bit = std::uint64_t{1} << (hash >> 58);
    const bool is_met = (met_ & bit) != 0;
    met_ |= bit;
    return is_met;
  }

 private:
  std::uint64_t met_ = 0;
};

char* put_value(char* to, const EventArgument& argument) {
  if (argument.type == ArgumentType::text) return put(to, argument.text);
  if (argument.type == ArgumentType::integer) return put_integer(to, argument.integer);
  return put_integer(to, argument.unsigned_integer);
}

/// The most bytes that arguments take, which are as nearly all are: few, with different names, whole numbers and texts
/// without anything to escape. Nothing where they are not.
template <std::size_t kQuoteSize>
std::optional<std::size_t> size_if_plain(std::span<const EventArgument> arguments) {
  constexpr std::size_t kFew = 32;
  if (arguments.size() > kFew) return std::nullopt;
  std::size_t size = 0;
  NameFilter names;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const EventArgument& argument = arguments[index];
    const bool is_plain_value =
        argument.type == ArgumentType::text ? is_plain(argument.text) : argument.type != ArgumentType::real;
    if (!is_plain_value || !is_plain(argument.name)) return std::nullopt;
    if (names.meet(argument.name)) {
      const auto before = arguments.first(index);
      const bool is_known = std::any_of(before.begin(), before.end(),
                                        [&](const EventArgument& other) { return other.name == argument.name; });
      if (is_known) return std::nullopt;
    }
    size += 4 * kQuoteSize + std::string_view(",:").size() + argument.name.size() +
            std::max(argument.text.size(), kLongestInteger);
  }
  return size;
}

/// Appends plain arguments as members of a JSON object with these quotes, after what `out` has of it. False: some are
/// not plain, and nothing is appended.
template <std::size_t kQuoteSize>
bool append_plain_members(std::string& out, const char (&quote_text)[kQuoteSize + 1],
                          std::span<const EventArgument> arguments) {
  const std::optional<std::size_t> size = size_if_plain<kQuoteSize>(arguments);
  if (!size) return false;
  const std::string_view quote(quote_text, kQuoteSize);
  const std::size_t begin = out.size();
  out.resize(begin + *size);
  char* to = out.data() + begin;
  for (const EventArgument& argument : arguments) {
    if (to[-1] != '{') *to++ = ',';
    to = put(put(put(to, quote), argument.name), quote);
    *to++ = ':';
    to = put(put_value(put(to, quote), argument), quote);
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return true;
}

}  // namespace

char* put_microseconds(char* to, Picoseconds time) {
  // Not std::abs(): the least number has no opposite.
  const std::uint64_t size = time < 0 ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  constexpr auto kUnit = static_cast<std::uint64_t>(kPicosecondsPerMicrosecond);
  if (time < 0) *to++ = '-';
  to = put_integer(to, size / kUnit);
  const std::uint64_t fraction = size % kUnit;
  if (fraction == 0) return to;
  // "1000345": the digits of the fraction with their zeros in front.
  char* const point = to;
  to = put_integer(to, kUnit + fraction);
  *point = '.';
  while (to[-1] == '0') --to;
  return to;
}

void append_microseconds(std::string& out, Picoseconds time) {
  std::array<char, kLongestTime> text;
  out.append(text.data(), put_microseconds(text.data(), time));
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
  const bool has_rival =
      !long_name.empty() &&
      std::any_of(arguments.begin(), arguments.end(), [&](const auto& argument) { return argument.name == kLongName; });
  if (!has_rival && append_plain_members<1>(out, "\"", arguments)) {
    out += '}';
    return;
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

void append_csv_arguments(std::string& out, std::span<const EventArgument> arguments) {
  if (arguments.empty()) {
    out += "{}";
    return;
  }
  const std::size_t begin = out.size();
  out += "\"{";
  if (append_plain_members<2>(out, "\"\"", arguments)) {
    out += "}\"";
    return;
  }
  out.resize(begin);
  std::string text;
  append_arguments(text, {}, arguments);
  append_csv_field(out, text);
}

}  // namespace doctor
