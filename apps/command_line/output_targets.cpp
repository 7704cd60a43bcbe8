#include "command_line/output_targets.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/try.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOutputOption = "--output";

Result<OutputFormat> parse_format(const std::string& word, const std::string& option, const OutputRequest& request) {
  std::vector<std::string_view> names;
  for (const OutputFormat allowed : request.allowed) {
    if (to_word(allowed) == word) return allowed;
    names.push_back(to_word(allowed));
  }
  if (format_of(word))
    return fail(fmt::format("no {} output for this {}", word, request.subject), option, suggestion({}, names));
  return fail("unknown value '" + word + "'", option, suggestion(word, names));
}

/// Position of the '=' after the word of a format; npos if the text is a file's name. A lower-case word that is not
/// a format is one with a slip in it, not the start of a name: "sarf=doctor.sarif".
std::size_t end_of_format(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view word = std::string_view(text).substr(0, equals);
  const bool is_word = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return equals != std::string::npos && !word.empty() && is_word ? equals : std::string::npos;
}

/// The targets with a format of their own, and the one file without.
struct Named {
  std::vector<OutputTarget> with_format;
  std::optional<std::string> plain;
};

Result<Named> sort_out(const OutputRequest& request) {
  Named named;
  for (const std::string& output : request.outputs) {
    const std::size_t equals = end_of_format(output);
    if (equals == std::string::npos) {
      if (!request.format && parse_format(output, std::string(kOutputOption), request)) {
        return fail("'" + output + "' is a format, not a file", std::string(kOutputOption),
                    fmt::format("write {0} {1}=FILE; for a file of this name, {0} ./{1}", kOutputOption, output));
      }
      if (named.plain) {
        return fail("a second file without a format", output, "say which document it gets, e.g. --output json=FILE");
      }
      named.plain = output;
      continue;
    }
    ASSIGN_OR_RETURN(const OutputFormat format,
                     parse_format(output.substr(0, equals), std::string(kOutputOption), request));
    OutputTarget target = {format, output.substr(equals + 1)};
    if (target.path.empty()) {
      return fail("no file after '" + output + "'", std::string(kOutputOption), "'-' is standard output");
    }
    named.with_format.push_back(std::move(target));
  }
  return named;
}

bool is_to_standard_output(const OutputTarget& target) {
  return target.is_standard_output();
}

/// Whether two names are one regular file; one that does not exist yet is compared by name.
bool is_same_file(const std::string& left, const std::string& right) {
  struct stat status {};
  if (::stat(left.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return false;  // devices take any number
  std::error_code error;
  if (fs::equivalent(left, right, error) && !error) return true;
  const fs::path one = fs::weakly_canonical(left, error);
  if (error) return left == right;
  const fs::path other = fs::weakly_canonical(right, error);
  return error ? left == right : one == other;
}

Result<void> check_standard_output(const std::vector<OutputTarget>& targets) {
  if (std::ranges::count_if(targets, is_to_standard_output) < 2) return {};
  return fail("two documents for standard output", std::string(kOutputOption), "write one of them to a file");
}

/// The summary of the job's step, if there are annotations and nothing else writes it.
void add_step_summary(std::vector<OutputTarget>& targets, const std::string& file) {
  const bool is_written = std::ranges::any_of(targets, [&](const OutputTarget& target) {
    return !target.is_standard_output() && is_same_file(target.path, file);
  });
  const bool has_annotations =
      std::ranges::any_of(targets, [](const OutputTarget& target) { return target.format == OutputFormat::github; });
  if (!file.empty() && has_annotations && !is_written) targets.push_back({OutputFormat::markdown, file, true});
}

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
  return std::ranges::find(formats, format) != formats.end();
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

Result<std::vector<OutputTarget>> choose_outputs(const OutputRequest& request) {
  Result<Named> named = sort_out(request);
  if (!named) return Unexpected(named.error());
  std::vector<OutputTarget> targets = std::move(named->with_format);
  const auto standard = std::ranges::find_if(targets, is_to_standard_output);
  if (!request.format && !named->plain && standard != targets.end()) {
    std::rotate(targets.begin(), standard, standard + 1);  // it is the main one, in place of the text
  } else {
    ASSIGN_OR_RETURN(const OutputFormat format, parse_format(request.format.value_or("text"), "--format", request));
    targets.insert(targets.begin(), {format, named->plain.value_or("")});
  }
  RETURN_IF_ERROR(check_standard_output(targets));
  add_step_summary(targets, request.step_summary);
  return targets;
}

Result<void> check_outputs(std::span<const OutputTarget> targets, std::span<const std::string> inputs) {
  for (std::size_t index = 0; index < targets.size(); ++index) {
    const std::string& path = targets[index].path;
    if (targets[index].is_standard_output()) continue;
    RETURN_IF_ERROR(check_output(path, inputs));
    for (const OutputTarget& earlier : targets.first(index)) {
      if (earlier.is_standard_output() || !is_same_file(earlier.path, path)) continue;
      return fail(fmt::format("gets two documents, {} and {}", to_word(earlier.format), to_word(targets[index].format)),
                  path, "choose another name for one of them");
    }
  }
  return {};
}

Result<ProblemLocation> parse_source_file(const std::string& text, std::string_view working_directory) {
  ProblemLocation location;
  std::string path = text;
  const std::size_t colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos) {
    path = text.substr(0, colon);
    location.line = parse_whole<std::size_t>(digits).value_or(0);
    constexpr std::size_t kLastLine = 2'147'483'647;  // of SARIF's readers
    if (location.line < 1 || location.line > kLastLine) {
      return fail("'" + digits + "' is not a line of a file", "--source-file", "lines are counted from 1");
    }
  }
  std::optional<std::string> relative = repository_path(path, working_directory);
  if (!relative) {
    return fail("'" + path + "' is not a file below the working directory", "--source-file",
                "name it relative to the root of the repository, and run there");
  }
  location.path = *std::move(relative);
  return location;
}

std::string_view to_word(OutputFormat format) {
  const auto* const found = std::ranges::find(kFormats, format, &FormatEntry::format);
  return found == kFormats.end() ? std::string_view() : found->word;
}

std::optional<OutputFormat> format_of(std::string_view word) {
  const auto* const found = std::ranges::find(kFormats, word, &FormatEntry::word);
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::vector<OutputFormat> in_order_of_help(std::span<const OutputFormat> formats) {
  std::vector<OutputFormat> ordered;
  for (const FormatEntry& known : kFormats) {
    if (has(formats, known.format)) ordered.push_back(known.format);
  }
  return ordered;
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
