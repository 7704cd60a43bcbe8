#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "convert/convert.h"
#include "io/gzip_sink.h"
#include "io/trace_inputs.h"
#include "process/current_work.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "process/progress_bar.h"
#include "process/timings.h"
#include "text/escape.h"

namespace doctor {
namespace {

/// Writes the events of the files to `sink`, with a progress bar where a person waits.
Conversion convert_watched(const Options& options, const std::vector<std::string>& files, EventWriter& writer) {
  Progress& progress = current_work().progress;
  name_current_files(files);
  std::optional<ProgressBar> bar;
  if (wants_progress_bar(options, STDERR_FILENO)) bar.emplace(progress, files.size(), status_line());
  return convert(files, writer, {.threads = options.threads, .progress = &progress});
}

/// "tfdata-doctor: FILE: not everything could be converted: 3 flow_events, 1 events_malformed".
void print_losses(const Conversion& conversion) {
  for (const ConvertedFile& converted : conversion.files) {
    if (converted.loss.complete()) continue;
    std::string losses;
    for (const auto& [reason, count] : converted.loss.counts) {
      losses += fmt::format("{}{} {}", losses.empty() ? "" : ", ", count, reason);
    }
    print_error({"left out or lost: " + losses, converted.file.path, {}, {}});
    for (const std::string& note : converted.loss.notes) print_error({note, {}, {}, {}});
  }
}

/// Nothing is written where nothing could be read. Errors: that, or output that cannot be written.
Result<Conversion> write_events(const Options& options, const std::vector<std::string>& files) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::open(options.output);
  if (!file) return Unexpected(std::move(file.error()));
  const std::unique_ptr<ByteSink> compressed = options.convert.is_compressed ? gzip_sink(**file) : nullptr;
  OutputBuffer output(compressed != nullptr ? *compressed : **file);
  const std::unique_ptr<EventWriter> writer = make_event_writer(options.convert.format, output);
  Conversion conversion = convert_watched(options, files, *writer);
  if (conversion.files.empty() && !output.has_failed()) return conversion;
  writer->end_document();
  if (Result<void> finished = output.finish(); !finished) return Unexpected(std::move(finished.error()));
  return conversion;
}

Result<Conversion> convert_traces(const Options& options) {
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_output(options.output, *files); !kept) return Unexpected(kept.error());
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited) {
    return Unexpected(limited.error());
  }
  return write_events(options, *files);
}

}  // namespace

int run_convert(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<Conversion> conversion = convert_traces(options);
  if (!conversion) {
    print_error(conversion.error());
    return kExitFailure;
  }
  for (const Error& error : conversion->unreadable) print_error(error);
  if (!options.quiet) print_losses(*conversion);
  if (options.timings) {
    print_note(render_conversion_timings(*conversion, std::chrono::steady_clock::now() - begin, options.threads));
  }
  return conversion->unreadable.empty() ? kExitClean : kExitFailure;
}

}  // namespace doctor
