#pragma once

#include <fmt/format.h>

#include "analysis.h"
#include "base/nearest.h"
#include "base/result.h"
#include "base/try.h"
#include "command_line/command_functions.h"
#include "command_line/request.h"
#include "diagnose/budget.h"
#include "documents.h"
#include "process/output.h"
#include "report/page.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {

// With the headers that every command needs.

// Pages of `show`.

/// Renders the page in one of its formats. Errors: what was requested is not in the trace.
Result<std::string> render_page(const Page& page, OutputFormat format, const PageInput& input);

/// The options of `diagnose`, which `capture` uses for the traces that it captured.
struct DiagnosisOptions {
  ReadingOptions reading;
  OutputOptions output;
  std::optional<Severity> fail_on;
  std::optional<ProblemLocation> source_file;
  std::vector<Budget> budgets;
};

/// Reads all options of a diagnosis except its traces. Errors: as of output_options() and source_file_of().
Result<DiagnosisOptions> diagnosis_options(const Request& request);

/// The page of `diagnose`, and its exit status. It refers to the options.
TracePage diagnosis_page(const DiagnosisOptions& options);

/// Fetches what a request names by URL: gs://, s3://, az://, abfs(s)://, hf://. Another program lists and reads it, the
/// first one of a table that is there: the cloud's own command, or Python with fsspec.
///
/// The files come into a private folder, each under its URL: "gs://bucket/logs/host.xplane.pb" is a path from that
/// folder, which becomes the working directory. So whatever reads, lists and names files goes by the URLs. Other paths
/// of the request become absolute. What a command does not read of a log directory is not fetched: that is found out on
/// files of the listed names, sizes and times that have no bytes yet. A process of its own removes the folder at the
/// end, and fetches for `watch` what is new.
///
/// Must be called before the sandbox begins, while there are no threads. Errors: nothing there can list or read it
/// (with what to install), it failed or ended early, names that cannot be paths, no room.
Result<void> fetch_remote_traces(Request& request);

}  // namespace doctor
