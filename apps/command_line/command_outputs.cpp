#include "command_line/command_outputs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "pages.h"

namespace doctor {
namespace {

/// Whether the command can write several documents, and those for CI.
bool reports_problems(const Options& options) {
  return options.command == Command::compare || (options.command == Command::diagnose && !options.list_runs);
}

std::vector<OutputFormat> formats_of(const Options& options) {
  std::vector<OutputFormat> formats = {OutputFormat::text, OutputFormat::json};
  const Page* const page = options.command == Command::show ? find_page(options.page) : nullptr;
  if (page != nullptr && page->has_csv) formats.push_back(OutputFormat::csv);
  if (options.command == Command::fleet || options.command == Command::query) {
    formats.insert(formats.end(), {OutputFormat::csv, OutputFormat::markdown});
  }
  if (reports_problems(options)) {
    formats.insert(formats.end(), {OutputFormat::sarif, OutputFormat::junit, OutputFormat::gitlab, OutputFormat::github,
                                   OutputFormat::markdown});
  }
  return formats;
}

std::string step_summary() {
  const char* const file = std::getenv("GITHUB_STEP_SUMMARY");
  return file == nullptr ? std::string() : file;
}

}  // namespace

Result<void> take_outputs(const RawOutputs& raw, Options& options) {
  const OutputWishes wishes = {raw.format, raw.outputs, formats_of(options), step_summary()};
  const bool has_csv =
      std::find(wishes.allowed.begin(), wishes.allowed.end(), OutputFormat::csv) != wishes.allowed.end();
  if (raw.format == "csv" && !has_csv) {
    return fail("there is no CSV of this", "--format", pages_with(&Page::has_csv) + " can be written as CSV");
  }
  Result<std::vector<OutputTarget>> targets = choose_outputs(wishes);
  if (!targets) return Unexpected(targets.error());
  // One that writes FORMAT=FILE alone does not print a second document.
  const bool is_one_file = targets->size() == 2 && raw.outputs.size() == 1 && !raw.format;
  if (is_one_file && !reports_problems(options)) targets->erase(targets->begin());
  if (targets->size() > 1 && !reports_problems(options)) {
    return fail("several documents of a command that writes one", "--output", "run it once for each");
  }
  options.format = targets->front().format;
  options.output = targets->front().path;
  options.more_outputs.assign(targets->begin() + 1, targets->end());
  if (!raw.source_file) return {};
  std::error_code ignored;  // without a working directory no absolute path is below it
  const Result<ProblemLocation> source =
      parse_source_file(*raw.source_file, std::filesystem::current_path(ignored).string());
  if (!source) return Unexpected(source.error());
  options.source_file = *source;
  return {};
}

}  // namespace doctor
