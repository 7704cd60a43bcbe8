#include <fmt/format.h>

#include "commands.h"
#include "compare/baseline_store.h"
#include "documents.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "recordings.h"
#include "report/baseline_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

int fail_with(const Error& error) {
  print_error(error);
  return kExitFailure;
}

int write_page(const Options& options, const std::string& page) {
  const bool is_written = write_documents(options, [&](OutputFormat) { return Result<std::string>(page); });
  return is_written ? kExitClean : kExitFailure;
}

int add(const Options& options) {
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited) {
    return fail_with(limited.error());
  }
  const Result<Recordings> recordings = read_recordings(options, options.traces);
  if (!recordings) return fail_with(recordings.error());
  print_missing(options, *recordings);
  const Result<std::size_t> added = add_to_baseline(*options.baseline, recordings->runs);
  if (!added) return fail_with(added.error());
  const std::size_t known = recordings->runs.size() - *added;
  const int code = write_page(options, fmt::format("{} added{}\n", format_count(*added, "run"),
                                                   known > 0 ? fmt::format(", {} known already", known) : ""));
  return recordings->unreadable.empty() ? code : kExitFailure;
}

int show(const Options& options) {
  const Result<std::vector<StoredRun>> runs = load_baseline(*options.baseline);
  if (!runs) return fail_with(runs.error());
  return write_page(options, options.format == OutputFormat::json ? to_baseline_json(*runs)
                                                                  : render_baseline_text(*runs, page_width(options)));
}

int prune(const Options& options) {
  const Result<std::size_t> removed = prune_baseline(*options.baseline, *options.keep);
  if (!removed) return fail_with(removed.error());
  return write_page(options, fmt::format("{} removed\n", format_count(*removed, "run")));
}

}  // namespace

int run_baseline(const Options& options) {
  if (options.action == "add") return add(options);
  return options.action == "prune" ? prune(options) : show(options);
}

}  // namespace doctor
