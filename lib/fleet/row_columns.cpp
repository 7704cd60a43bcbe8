#include "fleet/row_columns.h"

#include <fmt/format.h>

#include <array>

namespace doctor {
namespace {

using enum RowType;

constexpr std::array<RowColumn, 3> kOpColumns = {{
    {"op", text, false, "", "type of op, as in the trace"},
    {"self_us", real, false, "us", "time in ops of this type within the waits; ops at the same time count once"},
    {"share", real, false, "0..1", "of the time that the function took within the waits"},
}};

constexpr std::array<RowColumn, 3> kFindingColumns = {{
    {"rule", text, false, "", "`tfdata-doctor explain RULE` prints its page"},
    {"severity", text, false, "", "`error`, `warning` or `note`"},
    {"subject", text, false, "", "long name of the iterator at fault; empty for the whole trace or pipeline"},
}};

constexpr std::array<RowColumn, 34> kColumns = {{
    {"schema", text, false, "", "`tfdata-doctor.row/2`"},
    {"path", text, false, "", "the file, as it was given or found"},
    {"bytes", integer, false, "bytes", "of the file as stored: compressed, if it is"},
    {"sha256", text, true, "", "of the stored bytes; null where they could not be read"},
    {"format", text, true, "", "`xspace`, `chrome_json` or `tf1_timeline`; null where it is none of them"},
    {"host", text, true, "", "machine that was recorded; null where the trace does not name it"},
    {"recorded_at", timestamp, true, "", "when the recording began; null where the trace does not say"},
    {"events", integer, false, "", "events with a time, of any kind"},
    {"complete", boolean, false, "", "false where anything of the trace was damaged, cut off or not understood"},
    {"window_us", real, false, "us",
     "from the first to the last event on threads of the host that a diagnosis rests on"},
    {"verdict", text, true, "",
     "`input_bound`, `healthy`, `no_input_pipeline` or `inconclusive`; null where there is none"},
    {"confidence", real, true, "0..1", "in the verdict"},
    {"input_share", real, true, "0..1", "of the time that the consumer of the worst pipeline waits for input"},
    {"input_lost_us", real, false, "us",
     "that the trace's consumers waited for input; where the trace shows devices, only while none computed"},
    {"signature", text, true, "", "of the structure of the worst pipeline, sixteen hexadecimal digits"},
    {"culprit", text, true, "", "long name of the iterator that holds the worst pipeline up; null if nobody waits"},
    {"culprit_kind", text, true, "", "`source` or `transformation`"},
    {"culprit_dataset", text, true, "", "kind of dataset of the culprit, as in the trace: `ParallelMapV2`"},
    {"culprit_share", real, true, "0..1", "of the wait that the culprit holds"},
    {"limiting_resource", text, true, "",
     "of which more would make the job faster: `source`, `thread`, `calls`, `pool`, `cores`, `python_lock` or "
     "`outside`"},
    {"function_ops", records, false, "", "the three types of op that take most of the culprit's function", kOpColumns},
    {"get_next_count", integer, false, "", "calls of GetNext by the consumer of the worst pipeline"},
    {"get_next_p50_us", real, true, "us", "median of its steady calls; null without calls"},
    {"get_next_p95_us", real, true, "us", "95th percentile of all its calls"},
    {"get_next_max_us", real, true, "us", "longest of its calls"},
    {"findings", records, false, "", "what rules found, worst first; not what was suppressed", kFindingColumns},
    {"tool_version", text, false, "", "of the tfdata-doctor that wrote the line"},
    {"error", text, true, "", "why there is no diagnosis; null where there is one"},
    {"best_fix", text, true, "",
     "the rule whose advice is predicted to gain most, rather one whose gain depends on nothing that the trace does "
     "not show; null where nothing is predicted"},
    {"best_gain", real, true, "factor", "predicted steps in a time with that fix, for one now"},
    {"best_gain_low", real, true, "factor", "the lower end of what is predicted"},
    {"best_condition", text, true, "",
     "on which the gain depends, which the trace does not show: `fits_in_memory`, `python_releases_lock`, "
     "`runs_on_batches`, `does_not_need_map` or `comes_from_files`; null if on none"},
    {"culprit_source", text, true, "",
     "the line of the program that made the culprit, `src/input.py:33`; null where the trace does not say"},
    {"sandbox", text, true, "",
     "how much of the sandbox was in force: `full`, `partial` or `none`; null in rows of earlier versions"},
}};

void append_rows(std::string& table, std::span<const RowColumn> columns, const std::string& prefix) {
  for (const RowColumn& column : columns) {
    const std::string name = prefix + std::string(column.name);
    table += fmt::format("| `{}` | {}{} | {} | {} |\n", name, to_word(column.type),
                         column.is_nullable ? " or null" : "", column.unit, column.meaning);
    append_rows(table, column.fields, name + "[].");
  }
}

}  // namespace

std::span<const RowColumn> trace_row_columns() {
  return kColumns;
}

std::string_view to_word(RowType type) {
  switch (type) {
    case text:
      return "text";
    case integer:
      return "integer";
    case real:
      return "real";
    case boolean:
      return "boolean";
    case timestamp:
      return "timestamp";
    case records:
      break;
  }
  return "list of records";
}

std::string row_columns_table() {
  std::string table = "| column | type | unit | |\n|---|---|---|---|\n";
  append_rows(table, trace_row_columns(), "");
  return table;
}

}  // namespace doctor
