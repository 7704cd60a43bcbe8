#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diagnose/finding.h"
#include "measure/measurements.h"
#include "text/json_page.h"

namespace doctor {

struct Diagnosis;
struct PipelineView;

/// How many columns a row has.
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
  std::uint64_t bytes = 0;  ///< as stored: a compressed file's compressed size
  std::string sha256;       ///< of the stored bytes, in lower-case hexadecimal; empty if they could not be read
};

/// What is known of one stored trace: one line of the NDJSON that `batch` writes and `fleet` and `query` read. Every
/// column is in every line; one without a value is null.
struct TraceRow {
  RowFile file;
  std::string format;            ///< empty if the file could not be read
  std::string host;              ///< the first one of the trace; empty if it does not say
  std::int64_t recorded_ns = 0;  ///< nanoseconds since 1970 where the trace begins; 0 if it does not say
  std::uint64_t events = 0;
  bool is_complete = true;  ///< nothing of the trace was lost
  double window_us = 0;

  std::string verdict;                ///< as in the JSON report; empty if there is none
  std::optional<double> confidence;   ///< 0..1
  std::optional<double> input_share;  ///< 0..1
  double input_lost_us = 0;           ///< that the consumers of the trace waited for input

  std::string signature;          ///< of the structure of the worst pipeline: sixteen hexadecimal digits; empty if none
  std::string culprit;            ///< long name; empty if there is none
  std::string culprit_kind;       ///< "source" or "transformation"
  std::string culprit_dataset;    ///< "ParallelMapV2"
  std::string limiting_resource;  ///< as in the JSON report
  std::vector<RowOp> function_ops;  ///< the three that take most

  std::uint64_t get_next_count = 0;
  std::optional<double> get_next_p50_us;

  std::vector<RowFinding> findings;  ///< those that are not suppressed
  std::string tool_version;
  std::string error;  ///< why there is no diagnosis; empty if there is one

  std::string best_fix;                 ///< the rule whose advice is predicted to gain most; empty if none is
  std::optional<double> best_gain;      ///< factor: steps in a time with it for one without it
  std::optional<double> best_gain_low;  ///< the lower end of what is predicted
  std::string culprit_source;           ///< the line that made the culprit, "src/input.py:33"; empty if not known
  std::string best_condition;           ///< on which the gain depends, as in the JSON report; empty: on none
  std::string sandbox;                  ///< sandbox_word() of what read the trace
  std::optional<double> step_p50_us;    ///< median of steps_of() the worst pipeline

  /// Those of columns that are a RowFigure, each at the place of its column.
  std::vector<std::optional<double>> figures = std::vector<std::optional<double>>(row_column_count());
};

/// The row of one file that was diagnosed, or could not be read (`unreadable` of the analysis has why).
TraceRow row_of(RowFile file, const Measurements& measurements, const Diagnosis& diagnosis,
                const std::vector<Error>& unreadable);

/// Measures what the columns that are a RowFigure have.
void measure_figures(const PipelineView& worst, TraceRow& row);

/// The row of a file whose diagnosis came to no end: "took longer than 60 s".
TraceRow failed_row(RowFile file, std::string error);

/// All columns of row_columns.h, in their order. Times are microseconds; `sha256`, `recorded_at` (RFC 3339, UTC) and
/// names are text.
OrderedJson row_json(const TraceRow& row);

/// The same as one line of NDJSON with its end of line. Same row, byte-same line.
std::string render_row(const TraceRow& row);

/// Reads a line back. Errors: what is not a row, with the column that is wrong. Unknown columns are passed over.
Result<TraceRow> parse_row(std::string_view line);

/// SHA-256 of all bytes of a file, in lower-case hexadecimal. Errors: the file cannot be read.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace doctor
