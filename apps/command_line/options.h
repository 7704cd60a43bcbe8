#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "batch/shard.h"
#include "command_line/command_line.h"
#include "command_line/convert_target.h"
#include "command_line/output_targets.h"
#include "command_line/settings.h"
#include "compare/comparison.h"
#include "diagnose/finding.h"
#include "query/warehouse.h"

namespace doctor {

enum class ColorChoice { automatic, always, never };

/// The most memory that may be used.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string text;  ///< as written
};

/// What only `batch` knows.
struct BatchChoice {
  std::optional<std::string> files_from;
  std::size_t jobs = 1;
  std::optional<std::chrono::seconds> time_limit;  ///< of one trace
  Shard shard;
  bool resumes = false;
  std::optional<std::string> name;  ///< of the trace on standard input
  bool exits_zero = false;
};

/// What `query` is asked for.
struct QueryChoice {
  std::string sql;
  std::string sql_file;  ///< holds the SQL instead
  std::string database;  ///< file that traces are kept in; empty: none
  bool shows_schema = false;
  bool shows_examples = false;
};

/// What `schema` is asked for.
struct SchemaChoice {
  std::optional<Warehouse> engine;
  LoadedTable table = LoadedTable::events;
};

/// What the user asked for.
struct Options {
  Command command = Command::diagnose;
  std::vector<std::string> traces;      ///< files, directories, "-"
  std::string rule;                     ///< of explain
  std::string page;                     ///< of show: the name of one of pages()
  std::string action;                   ///< of config: what to do
  std::string shell;                    ///< of completions
  std::optional<std::size_t> call;      ///< of show calls: number of one call in its pipeline, from 1
  std::optional<std::size_t> top;       ///< of show: how many calls or rows; 0: all
  std::optional<std::string> sort;      ///< of show: key of the column that a table is sorted by
  bool by_type = false;                 ///< of show ops: a row for each type of op, not for each op
  bool with_idle = false;               ///< of show ops: with the time in which no op ran
  std::optional<std::string> pipeline;  ///< of show calls: id of the pipeline to look at

  std::vector<std::string> base;        ///< of compare: the recordings that `traces` are compared with
  std::optional<std::string> baseline;  ///< file of a baseline, of compare and baseline
  std::string label;                    ///< of runs in a baseline; empty: none, or any
  std::optional<std::size_t> keep;      ///< of baseline prune: how many runs stay
  ComparisonChoice comparison;          ///< of compare, but for fail_on

  BatchChoice batch;

  OutputFormat format = OutputFormat::text;
  QueryChoice query;                           ///< of query
  SchemaChoice schema;                         ///< of schema
  ConvertTarget convert;                       ///< of convert, in place of the format
  std::string output;                          ///< file to write; empty or "-" is standard output
  std::vector<OutputTarget> more_outputs;      ///< of diagnose: further documents
  std::optional<ProblemLocation> source_file;  ///< of diagnose: where the pipeline is written
  ColorChoice color = ColorChoice::automatic;
  bool quiet = false;
  bool verbose = false;
  bool timings = false;
  unsigned threads = 1;  ///< that read and measure a trace
  std::optional<MemoryLimit> max_memory;
  std::optional<Severity> fail_on = Severity::warning;  ///< nullopt: never
  Settings settings;                                    ///< thresholds, budgets, suppressions and where they come from
  std::chrono::year_month_day today;                    ///< for what expires
  std::optional<std::string> run;                       ///< name of a run in a log directory
  bool list_runs = false;
};

/// Reads the command line, without the program's name, and what its surroundings say. Without a command it is
/// `diagnose`. Errors: anything that is not understood, with the nearest name that would be.
tl::expected<std::variant<Options, Answer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                       const Surroundings& around);

}  // namespace doctor
