#include "command_line/request.h"

#include "base/nearest.h"
#include "command_line/option_table.h"
#include "command_line/option_values.h"

namespace doctor {

const std::vector<std::string>& Request::all(std::string_view argument) const {
  static const std::vector<std::string> kNone;
  const auto found = arguments.find(argument);
  return found == arguments.end() ? kNone : found->second;
}

std::string Request::argument(std::string_view name) const {
  const std::vector<std::string>& found = all(name);
  return found.empty() ? std::string() : found.front();
}

std::optional<std::string> Request::given(std::string_view option) const {
  const GivenValue* const value = values.find(option);
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

std::string Request::text(std::string_view option) const {
  const OptionEntry* const entry = find_option(command, option);
  return given(option).value_or(entry == nullptr ? std::string() : std::string(entry->default_text));
}

std::optional<std::size_t> Request::number(std::string_view option) const {
  return parse_number(text(option));
}

std::chrono::milliseconds Request::duration(std::string_view option) const {
  return parse_duration(text(option)).value_or(std::chrono::milliseconds(0));
}

std::size_t Request::word(std::string_view option) const {
  const std::span<const std::string_view> words = find_option(command, option)->words;
  return static_cast<std::size_t>(std::ranges::find(words, text(option)) - words.begin());
}

const CommandVariant* variant_of(const Request& request) {
  for (const CommandVariant& variant : entry_of(request.command).variants) {
    const bool is_asked_for =
        variant.option.empty() ? request.argument("ACTION") == variant.action : request.is_set(variant.option);
    if (is_asked_for) return &variant;
  }
  return nullptr;
}

std::vector<OutputFormat> formats_of(const Request& request) {
  if (const CommandVariant* const variant = variant_of(request)) return variant->formats;
  const CommandEntry& command = entry_of(request.command);
  return command.command == Command::show ? formats_of(command, request.argument("PAGE")) : command.formats;
}

Result<std::string> word_argument(const Request& request, std::string_view name) {
  const CommandEntry& command = entry_of(request.command);
  const auto entry = std::ranges::find(command.arguments, name, &ArgumentEntry::name);
  const std::string word = request.argument(name);
  if (std::ranges::find(entry->words, word) != entry->words.end()) return word;
  const std::string where(command.name);
  if (word.empty()) return fail(where + " needs " + std::string(name), {}, suggestion({}, entry->words));
  return fail("unknown value '" + word + "'", where, suggestion(word, entry->words));
}

}  // namespace doctor
