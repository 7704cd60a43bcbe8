#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/command_table.h"
#include "command_line/output_targets.h"
#include "command_line/request.h"
#include "pages.h"

namespace doctor {
namespace {

struct FormatEntry {
  std::string_view word;
  OutputFormat format;
  std::string_view meaning = {};  ///< of the word, where it does not say so itself
  bool is_for_ci = false;         ///< where problems are reported
};

/// In the order in which help lists them.
constexpr std::array<FormatEntry, 11> kFormats = {{
    {"text", OutputFormat::text},
    {"json", OutputFormat::json},
    {"html", OutputFormat::html, "a page"},
    {"svg", OutputFormat::svg, "a picture"},
    {"csv", OutputFormat::csv},
    {"prometheus", OutputFormat::prometheus, "metrics"},
    {"sarif", OutputFormat::sarif, {}, true},
    {"junit", OutputFormat::junit, {}, true},
    {"gitlab", OutputFormat::gitlab, {}, true},
    {"github", OutputFormat::github, {}, true},
    {"markdown", OutputFormat::markdown, {}, true},
}};

bool has(std::span<const OutputFormat> formats, OutputFormat format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

/// "text, json or html"; `last` comes before the last one.
std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) {
    list += (list.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
  }
  return list;
}

}  // namespace

std::string_view to_word(OutputFormat format) {
  const auto* const found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatEntry& known) { return known.format == format; });
  return found == kFormats.end() ? std::string_view() : found->word;
}

std::optional<OutputFormat> format_of(std::string_view word) {
  const auto* const found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatEntry& known) { return known.word == word; });
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::vector<OutputFormat> formats_of(const CommandEntry& command, std::string_view page) {
  std::vector<OutputFormat> all = command.formats;
  const auto add = [&all](const std::vector<OutputFormat>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const CommandVariant& variant : command.variants) {
    if (variant.option.empty()) add(variant.formats);
  }
  if (command.command == Command::show) {
    for (const Page& one : pages()) {
      if (find_page(page) == nullptr || one.name == page) add(one.formats());
    }
  }
  std::vector<OutputFormat> formats;
  for (const FormatEntry& known : kFormats) {
    if (has(all, known.format)) formats.push_back(known.format);
  }
  return formats;
}

std::vector<OutputFormat> formats_of(const Request& request) {
  if (const CommandVariant* const variant = variant_of(request)) return variant->formats;
  const CommandEntry& command = entry_of(request.command);
  return command.command == Command::show ? formats_of(command, request.argument("PAGE")) : command.formats;
}

std::string describe_formats(std::span<const OutputFormat> formats, std::string_view csv_holds) {
  const bool reports_problems = has(formats, OutputFormat::sarif);
  std::vector<std::string> plain;
  std::vector<std::string> for_ci;
  for (const FormatEntry& known : kFormats) {
    if (!has(formats, known.format)) continue;
    const std::string_view meaning = known.format == OutputFormat::csv ? csv_holds : known.meaning;
    const std::string words = meaning.empty() ? std::string(known.word) : fmt::format("{} ({})", known.word, meaning);
    (reports_problems && known.is_for_ci ? for_ci : plain).push_back(words);
  }
  if (for_ci.empty()) return "How to print it: " + list_of(plain);
  return fmt::format("How to print it: {} or, for CI, {}", fmt::join(plain, ", "), list_of(for_ci));
}

}  // namespace doctor
