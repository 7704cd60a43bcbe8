#pragma once

#include <regex.h>

#include "base/result.h"
#include "diagnose/finding.h"
#include "measure/measurements.h"
#include "text/json_page.h"

namespace doctor {

struct Diagnosis;
struct PipelineView;
struct RowColumn;

/// The number of columns of a row.
std::size_t row_column_count();

/// One type of op of the culprit's functions.
struct RowOp {
  std::string op;
  double self_us = 0;
  double share = 0;  ///< of the time of all ops of the culprit's functions
};

struct RowFinding {
  std::string rule;
  std::string severity;  ///< "error", "warning", "note"
  std::string subject;   ///< foreign text
};

/// The file that a row is about, as found before it is diagnosed.
struct RowFile {
  std::string path;         ///< as it was given or found
  std::uint64_t bytes = 0;  ///< size as stored: of a compressed file, the compressed size
  std::string sha256;       ///< of the stored bytes, in lower-case hexadecimal; empty if they could not be read
};

/// The result for one stored trace: one line of the NDJSON that `batch` writes and `fleet` and `query` read. Every
/// column is in every line; one without a value is null.
struct TraceRow {
  RowFile file;
  std::string format;            ///< empty if the file could not be read
  std::string host;              ///< the first host of the trace; empty if it does not say
  std::int64_t recorded_ns = 0;  ///< when the trace begins, in nanoseconds since 1970; 0 if it does not say
  std::uint64_t events = 0;
  bool is_complete = true;  ///< nothing of the trace was lost
  double window_us = 0;

  std::string verdict;                ///< as in the JSON report; empty if there is none
  std::optional<double> confidence;   ///< 0..1
  std::optional<double> input_share;  ///< 0..1
  double input_lost_us = 0;           ///< time that the consumers of the trace waited for input

  std::string signature;          ///< of the structure of the worst pipeline: sixteen hexadecimal digits; empty if none
  std::string culprit;            ///< long name; empty if there is none
  std::string culprit_kind;       ///< "source" or "transformation"
  std::string culprit_dataset;    ///< "ParallelMapV2"
  std::string limiting_resource;  ///< as in the JSON report
  std::vector<RowOp> function_ops;  ///< the three with the most time

  std::uint64_t get_next_count = 0;
  std::optional<double> get_next_p50_us;

  std::vector<RowFinding> findings;  ///< findings that are not suppressed
  std::string tool_version;
  std::string error;  ///< why there is no diagnosis; empty if there is one

  std::string best_fix;                 ///< the rule whose advice has the largest predicted gain; empty if none has one
  std::optional<double> best_gain;      ///< factor: steps in a given time with it, divided by steps without it
  std::optional<double> best_gain_low;  ///< the lower end of the prediction
  std::string culprit_source;           ///< the line that made the culprit, "src/input.py:33"; empty if not known
  std::string best_condition;           ///< condition of the gain, as in the JSON report; empty: none
  std::string sandbox;                  ///< sandbox_word() of the process that read the trace
  std::optional<double> step_p50_us;    ///< median of steps_of() the worst pipeline

  /// Values of the columns that are a RowFigure, each at the index of its column.
  std::vector<std::optional<double>> figures = std::vector<std::optional<double>>(row_column_count());
};

/// The row of one file that was diagnosed, or could not be read (then `unreadable` of the analysis says why).
TraceRow row_of(RowFile file, const Measurements& measurements, const Diagnosis& diagnosis,
                const std::vector<Error>& unreadable);

/// Measures the values of columns that are a RowFigure.
void measure_figures(const PipelineView& worst, TraceRow& row);

/// The row of a file whose diagnosis did not finish: "took longer than 60 s".
TraceRow failed_row(RowFile file, std::string error);

/// The row as one line of NDJSON with its end of line: all columns of row_columns.h in their order. Times are
/// microseconds; `sha256`, `recorded_at` (RFC 3339, UTC) and names are text. Equal rows give equal bytes.
std::string render_row(const TraceRow& row);

/// The value of one column as it stands in that line.
std::string render_column(const RowColumn& column, const TraceRow& row);

/// Reads a line back. Errors: it is not a row; the error names the wrong column. Unknown columns are skipped.
Result<TraceRow> parse_row(std::string_view line);

/// SHA-256 of all bytes of a file, in lower-case hexadecimal. Errors: the file cannot be read.
Result<std::string> sha256_of_file(const std::string& path);

/// The key by which rows are grouped, to rank the groups.
class RowGrouping {
 public:
  /// Puts no row into a group.
  RowGrouping() = default;

  /// Parses "job", "line", "culprit", "pipeline", "host", or "path:REGEX": the first subexpression of an extended
  /// regular expression (POSIX), or the whole expression if it has none, as found in the path. `where` is the place of
  /// the text, for errors. Errors: none of these; not a regular expression.
  static Result<RowGrouping> parse(const std::string& text, const std::string& where);

  /// The text that was parsed; empty: there are no groups.
  const std::string& name() const { return name_; }

  /// The group of a row. Empty: it is in no group, because it does not have the key.
  std::string group_of(const TraceRow& row) const;

 private:
  std::string name_;
  std::string (*group_of_)(const TraceRow& row) = nullptr;
  std::shared_ptr<const regex_t> pattern_;  ///< for the path
};

/// The directory of the runs that a trace belongs to: its path without the file's name and without plugins/profile/RUN,
/// where TensorBoard keeps the run. "." if nothing is left.
std::string job_of(const std::string& path);

/// The folder of a trace's run, which all hosts of the run share: its path up to plugins/profile/RUN. Empty: the trace
/// lies in none, and is a run of its own.
std::string run_folder_of(const std::string& path);

/// The time at which a run began, in nanoseconds since 1970, from the name that profilers give its folder,
/// 2026_11_25_04_41_45, taken as UTC. 0 for any other name.
std::int64_t time_of_run_folder(const std::string& folder);

}  // namespace doctor
