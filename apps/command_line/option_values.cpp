#include "command_line/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/nearest.h"
#include "batch/shard.h"
#include "command_line/memory_size.h"

namespace doctor {
namespace {

Result<void> check_number(const OptionEntry& option, const GivenValue& value) {
  const std::optional<std::size_t> number = parse_number(value.text);
  if (number && *number >= option.least && *number <= option.most) return {};
  const bool is_bounded = option.most != std::numeric_limits<std::size_t>::max();
  const std::string range =
      is_bounded ? fmt::format("from {} to {}", option.least, option.most) : fmt::format("from {} up", option.least);
  return fail(fmt::format("'{}' is no whole number {}", value.text, range), value.where);
}

Result<void> check_word(const OptionEntry& option, const GivenValue& value) {
  const Result<std::size_t> chosen = choose(value.where, value.text, option.words);
  return chosen ? Result<void>() : Unexpected(chosen.error());
}

/// All entries of one name: commands may differ in the words that they take.
std::vector<const OptionEntry*> namesakes(std::string_view name) {
  std::vector<const OptionEntry*> entries;
  for (const OptionEntry& option : option_table()) {
    if (option.name == name && option.is_setting) entries.push_back(&option);
  }
  return entries;
}

}  // namespace

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  return error == std::errc() && end == text_end ? std::optional(number) : std::nullopt;
}

Result<std::size_t> choose(const std::string& where, std::string_view word, std::span<const std::string_view> words) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  return fail("unknown value '" + std::string(word) + "'", where, suggestion(word, {words.begin(), words.end()}));
}

Result<void> check_value(const OptionEntry& option, const GivenValue& value) {
  switch (option.kind) {
    case ValueKind::none:
      if (value.text == "true" || value.text == "false") return {};
      return fail("'" + value.text + "' is neither true nor false", value.where);
    case ValueKind::word:
      return check_word(option, value);
    case ValueKind::number:
      return check_number(option, value);
    case ValueKind::size:
      if (parse_memory_size(value.text)) return {};
      return fail("'" + value.text + "' is no size", value.where, std::string(kMemorySizes));
    case ValueKind::shard:
      if (parse_shard(value.text)) return {};
      return fail("'" + value.text + "' is no part of several", value.where,
                  "the first of 8 parts is 1/8, the last 8/8");
    case ValueKind::text:
    case ValueKind::file:
    case ValueKind::threshold:
    case ValueKind::share_budget:
    case ValueKind::time_budget:
    case ValueKind::rule_budget:
    case ValueKind::suppression:
      break;  // rules and numbers in them are checked by who reads them
  }
  return {};
}

Result<void> check_for_any_command(std::string_view name, const GivenValue& value) {
  std::vector<std::string_view> words;
  Result<void> last;
  for (const OptionEntry* option : namesakes(name)) {
    last = check_value(*option, value);
    if (last) return {};
    for (const std::string_view word : option->words) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  if (words.empty()) return last;
  const Result<std::size_t> chosen = choose(value.where, value.text, words);
  return chosen ? Result<void>() : Unexpected(chosen.error());
}

}  // namespace doctor
