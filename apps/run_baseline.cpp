#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "commands.h"
#include "compare/baseline_store.h"
#include "io/path_error.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "process/output_broker.h"
#include "recordings.h"
#include "report/baseline_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

struct BaselineOptions {
  std::string file;
  ReadingOptions reading;
  OutputOptions output;
};

Result<BaselineOptions> baseline_options(const Request& request, const std::string& action) {
  BaselineOptions options = {request.argument("FILE"), reading_options(request), {}};
  const std::string usage = "tfdata-doctor baseline " + action + " FILE";
  if (action == "add" && options.reading.traces.empty()) return fail("no trace given", {}, usage + " TRACE...");
  Result<OutputOptions> output = output_options(request);
  if (!output) return Unexpected(output.error());
  options.output = *std::move(output);
  if (options.file.empty()) return fail("baseline needs a FILE", {}, usage);
  if (action == "prune" && !request.number("keep")) {
    return fail("prune needs the number of runs to keep", {}, usage + " --keep N");
  }
  return options;
}

/// By way of the process that writes for this one, if there is one.
BaselineAccess baseline_access() {
  const OutputBroker* const broker = output_broker();
  if (broker == nullptr) return access_by_name();
  return {.lock = [broker](const std::string& path) -> Result<FileDescriptor> {
            FileDescriptor file;
            if (const int error = broker->lock(path, file); error != 0) return Unexpected(path_error(path, error));
            return file;
          },
          .replace = [](const std::string& path, std::string_view bytes) { return write_output(bytes, path); }};
}

Result<void> enter_baseline_sandbox(const BaselineOptions& options, std::vector<std::string> inputs,
                                    std::optional<BaselineKind> changed) {
  SandboxNeeds needs = {.inputs = std::move(inputs), .outputs = paths_of(options.output)};
  if (changed == BaselineKind::database) needs.databases = {options.file};
  if (changed == BaselineKind::json) needs.outputs.push_back(options.file);
  return enter_sandbox(options.reading.sandbox, needs);
}

int add_to(const BaselineOptions& options, const std::string& label) {
  if (const Result<void> limited = limit_memory(options.reading.max_memory); !limited) {
    return fail_with(limited.error());
  }
  const bool is_quiet = options.output.quiet;
  const Result<std::vector<NamedRecordings>> named = find_recordings(options.reading.traces);
  if (!named) return fail_with(named.error());
  const Result<BaselineKind> kind = kind_to_change(options.file);
  if (!kind) return fail_with(kind.error());
  if (const Result<void> entered = enter_baseline_sandbox(options, files_of(*named), *kind); !entered) {
    return fail_with(entered.error());
  }
  const Result<Recordings> recordings = read_recordings(*named, options.reading.setup, label, is_quiet);
  if (!recordings) return fail_with(recordings.error());
  print_missing(*recordings, is_quiet);
  const Result<std::size_t> added = add_to_baseline(options.file, *kind, recordings->runs, baseline_access());
  if (!added) return fail_with(added.error());
  const std::size_t known = recordings->runs.size() - *added;
  const int code = print_page(fmt::format("{} added{}\n", format_count(*added, "run"),
                                          known > 0 ? fmt::format(", {} known already", known) : ""),
                              options.output.path());
  return recordings->unreadable.empty() ? code : kExitFailure;
}

int show_runs(const BaselineOptions& options) {
  if (const Result<void> entered = enter_baseline_sandbox(options, {options.file}, {}); !entered) {
    return fail_with(entered.error());
  }
  const Result<std::vector<StoredRun>> runs = load_baseline(options.file);
  if (!runs) return fail_with(runs.error());
  const bool is_json = options.output.format() == OutputFormat::json;
  return print_page(is_json ? to_baseline_json(*runs) : render_baseline_text(*runs, page_width(options.output)),
                    options.output.path(), is_json);
}

int prune(const BaselineOptions& options, std::size_t keep) {
  if (::access(options.file.c_str(), F_OK) != 0) return fail_with(path_error(options.file, errno));
  const Result<BaselineKind> kind = kind_to_change(options.file);
  if (!kind) return fail_with(kind.error());
  if (const Result<void> entered = enter_baseline_sandbox(options, {}, *kind); !entered) {
    return fail_with(entered.error());
  }
  const Result<std::size_t> removed = prune_baseline(options.file, *kind, keep, baseline_access());
  if (!removed) return fail_with(removed.error());
  return print_page(fmt::format("{} removed\n", format_count(*removed, "run")), options.output.path());
}

}  // namespace

int run_baseline(const Request& request) {
  const Result<std::string> action = word_argument(request, "ACTION");
  if (!action) return fail_with(action.error());
  const Result<BaselineOptions> options = baseline_options(request, *action);
  if (!options) return fail_with(options.error());
  if (*action == "add") return add_to(*options, request.text("label"));
  return *action == "prune" ? prune(*options, *request.number("keep")) : show_runs(*options);
}

}  // namespace doctor
