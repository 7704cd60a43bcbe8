#include "command_line/options.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "base/nearest.h"
#include "command_line/command_line.h"
#include "command_line/command_outputs.h"
#include "command_line/memory_size.h"
#include "command_line/option_table.h"
#include "command_line/option_values.h"
#include "pages.h"

namespace doctor {
namespace {

constexpr unsigned kMostUsefulThreads = 4;  // more do not read faster

/// Cores that this process may run on. Not hardware_concurrency(): glibc counts those of the machine.
unsigned usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return static_cast<unsigned>(CPU_COUNT(&cores));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// What must be there for the command to have a meaning.
Result<void> check_arguments(const Options& options) {
  const std::string help = "see 'tfdata-doctor --help'";
  if (options.command == Command::show) {
    if (options.page.empty()) return fail("show needs a page and a trace", {}, suggestion({}, page_names()));
    if (find_page(options.page) == nullptr) {
      return fail("no page '" + options.page + "' to show", {}, suggestion(options.page, page_names()));
    }
  }
  if (options.command == Command::explain && options.rule.empty()) {
    return fail("explain needs the name of a rule", {}, "'tfdata-doctor rules' lists them");
  }
  const CommandSet trace_readers = {Command::diagnose, Command::show, Command::convert};
  const bool needs_trace =
      trace_readers.has(options.command) || (options.command == Command::baseline && options.action == "add");
  if (needs_trace && options.traces.empty()) return fail("no trace given", {}, help);
  if (options.command == Command::fleet && options.traces.empty()) {
    return fail("fleet needs the files of rows that batch wrote", {}, help);
  }
  return {};
}

/// Parts what stands on either side of the "--" of `compare`. Without one all of it is the candidate.
void take_sides(const std::vector<std::string>& arguments, Options& options) {
  const auto between = std::find(arguments.begin(), arguments.end(), kBetweenSides);
  if (between == arguments.end()) {
    options.traces = arguments;
    return;
  }
  options.base.assign(arguments.begin(), between);
  options.traces.assign(between + 1, arguments.end());
}

/// A comparison needs two sides, one of which may be a baseline.
Result<void> check_sides(const Options& options) {
  const std::string usage = "tfdata-doctor compare BASE... -- CANDIDATE..., or compare --baseline FILE CANDIDATE...";
  if (options.command != Command::compare) return {};
  if (options.baseline && !options.base.empty())
    return fail("compare takes BASE... or --baseline, not both", {}, usage);
  if (!options.baseline && options.base.empty()) return fail("no base to compare with", {}, usage);
  if (options.traces.empty()) return fail("no candidate to compare", {}, usage);
  if (!options.label.empty() && !options.baseline) return fail("is for runs of a --baseline", "--label", usage);
  return {};
}

/// What only `baseline` knows.
Result<void> check_baseline(const Options& options) {
  if (options.command != Command::baseline) return {};
  if (!options.baseline) return fail("baseline needs a FILE", {}, "tfdata-doctor baseline " + options.action + " FILE");
  if (options.action == "prune" && !options.keep) {
    return fail("prune needs to know how many runs stay", {}, "tfdata-doctor baseline prune FILE --keep N");
  }
  return {};
}

/// The page that `show` was asked for; null for other commands.
const Page* page_of(const Options& options) {
  return options.command == Command::show ? find_page(options.page) : nullptr;
}

/// What was given must be known to the page, and have a meaning.
Result<void> check_values(const GivenValues& values, const Options& options) {
  const Page* const page = page_of(options);
  for (const OptionEntry* option : options_of(options.command)) {
    for (const GivenValue& value : values.all(option->name)) {
      if (page != nullptr && option->ability != nullptr && !(page->*option->ability)) {
        return fail(fmt::format("unknown option '{}' of show {}", flag_of(*option), options.page), {},
                    "it is for " + pages_with(option->ability));
      }
      if (Result<void> checked = check_value(*option, value); !checked) return checked;
    }
  }
  return {};
}

/// The index of the value among the words of the option, which the command must know; that of its default if none was
/// given. The value is checked.
std::size_t chosen_word(Command command, const GivenValues& values, std::string_view name) {
  const OptionEntry& option = *find_option(command, name);
  const GivenValue* const value = values.find(name);
  const std::string_view word = value == nullptr ? option.default_text : std::string_view(value->text);
  const auto found = std::find(option.words.begin(), option.words.end(), word);
  return static_cast<std::size_t>(found - option.words.begin());
}

void take_choices(const GivenValues& values, Options& options) {
  const Command command = options.command;
  if (find_option(command, "color") != nullptr) {
    options.color = static_cast<ColorChoice>(chosen_word(command, values, "color"));
  }
  if (find_option(command, "fail-on") != nullptr) {
    constexpr std::size_t kNever = 3;
    const std::size_t fail_on = chosen_word(command, values, "fail-on");
    options.fail_on = fail_on < kNever ? std::optional(static_cast<Severity>(fail_on)) : std::nullopt;
  }
}

void take_page_options(const GivenValues& values, Options& options) {
  if (const GivenValue* const call = values.find("call")) options.call = parse_number(call->text);
  if (const GivenValue* const top = values.find("top")) options.top = parse_number(top->text);
  if (const GivenValue* const sort = values.find("sort")) options.sort = sort->text;
  if (const GivenValue* const pipeline = values.find("pipeline")) options.pipeline = pipeline->text;
  options.by_type = values.text("by") == "type";
  options.with_idle = values.is_set("with-idle");
}

void take_comparison(const GivenValues& values, Options& options) {
  if (const GivenValue* const baseline = values.find("baseline")) options.baseline = baseline->text;
  if (const GivenValue* const keep = values.find("keep")) options.keep = parse_number(keep->text);
  options.label = values.text("label");
  options.comparison.is_weak = values.is_set("weak");
  for (const GivenValue& judged : values.all("judge")) {
    options.comparison.judges_get_next |= judged.text == "get-next";
    options.comparison.judges_step |= judged.text == "step";
  }
}

void take_limits(const GivenValues& values, Options& options) {
  options.threads = std::min(usable_cores(), kMostUsefulThreads);
  if (const GivenValue* const threads = values.find("threads")) {
    options.threads = static_cast<unsigned>(*parse_number(threads->text));
  }
  if (const GivenValue* const memory = values.find("max-memory")) {
    options.max_memory = MemoryLimit{*parse_memory_size(memory->text), memory->text};
  }
}

void take_batch(const GivenValues& values, Options& options) {
  if (options.command != Command::batch) return;
  BatchChoice& batch = options.batch;
  batch.jobs = usable_cores();
  if (const GivenValue* const jobs = values.find("jobs")) batch.jobs = *parse_number(jobs->text);
  if (const GivenValue* const files = values.find("files-from")) batch.files_from = files->text;
  if (const GivenValue* const name = values.find("name")) batch.name = name->text;
  if (const GivenValue* const shard = values.find("shard")) batch.shard = *parse_shard(shard->text);
  const GivenValue* const timeout = values.find("timeout");
  const std::string_view usual = find_option(Command::batch, "timeout")->default_text;
  const std::size_t seconds = *parse_number(timeout != nullptr ? std::string_view(timeout->text) : usual);
  if (seconds > 0) batch.time_limit = std::chrono::seconds(seconds);
  batch.resumes = values.is_set("resume");
  batch.exits_zero = values.is_set("exit-zero");
}

/// What only `batch` needs to have a meaning.
Result<void> check_batch(const Options& options) {
  if (options.command != Command::batch) return {};
  const BatchChoice& batch = options.batch;
  const bool reads_stdin = std::find(options.traces.begin(), options.traces.end(), "-") != options.traces.end();
  if (options.traces.empty() && !batch.files_from) {
    return fail("no trace given", {}, "name files or directories, or a list of them with --files-from");
  }
  if (reads_stdin && batch.files_from == "-") {
    return fail("standard input cannot be a trace and a list of traces", "--files-from", "name a file in place of one");
  }
  if (batch.name && !reads_stdin) return fail("is for the trace on standard input", "--name", "name it as -");
  if (batch.resumes && (options.output.empty() || options.output == "-")) {
    return fail("needs a file to go on with", "--resume", "name it with -o");
  }
  return {};
}

void take_trace_options(const GivenValues& values, Options& options) {
  if (const std::string run = values.text("run"); !run.empty()) options.run = run;
  options.list_runs = values.is_set("list-runs");
  options.timings = values.is_set("timings");
  options.quiet = values.is_set("quiet");
  options.verbose = values.is_set("verbose");
}

RawOutputs raw_outputs(const GivenValues& values) {
  RawOutputs raw;
  if (const GivenValue* const format = values.find("format")) raw.format = format->text;
  for (const GivenValue& output : values.all("output")) raw.outputs.push_back(output.text);
  if (const GivenValue* const source = values.find("source-file")) raw.source_file = source->text;
  return raw;
}

/// What `query` is asked, and `schema`.
void take_query(const GivenValues& values, Options& options) {
  options.query.database = values.text("db");
  options.query.sql_file = values.text("sql-file");
  options.query.shows_schema = values.is_set("schema");
  options.query.shows_examples = values.is_set("examples");
  if (!options.query.sql_file.empty() && !options.query.sql.empty()) {
    options.traces.insert(options.traces.begin(), std::exchange(options.query.sql, {}));
  }
  if (options.command != Command::schema) return;
  if (values.find("for") != nullptr) {
    options.schema.engine = static_cast<Warehouse>(chosen_word(Command::schema, values, "for"));
  }
  options.schema.table = static_cast<LoadedTable>(chosen_word(Command::schema, values, "of"));
}

Result<void> check_query(const Options& options) {
  const std::string usage = "tfdata-doctor query SQL TRACE..., 'query --schema' lists the tables";
  if (options.command == Command::schema && !options.schema.engine) {
    return fail("schema needs --for", {}, "tfdata-doctor schema --for bigquery|clickhouse|duckdb|spark");
  }
  const bool asks = !options.query.shows_schema && !options.query.shows_examples;
  if (options.command != Command::query || !asks) return {};
  if (options.query.sql.empty() && options.query.sql_file.empty()) return fail("query needs SQL", {}, usage);
  if (options.traces.empty() && options.query.database.empty()) return fail("no trace given", {}, usage);
  const auto standard_inputs = std::count(options.traces.begin(), options.traces.end(), "-");
  if (options.query.sql == "-" && standard_inputs > 0) {
    return fail("both the SQL and a trace are to be standard input", {}, usage);
  }
  return {};
}

/// The word that an argument of the command must be one of.
Result<std::string> take_word(const CommandLine& line, std::string_view name) {
  const std::vector<ArgumentEntry>& arguments = entry_of(line.command).arguments;
  const auto entry = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const ArgumentEntry& argument) { return argument.name == name; });
  if (entry == arguments.end()) return std::string();
  const std::string word = line.argument(name);
  if (std::find(entry->words.begin(), entry->words.end(), word) != entry->words.end()) return word;
  const std::string command(entry_of(line.command).name);
  const std::string fault = word.empty() ? command + " needs " + std::string(name) : "unknown value '" + word + "'";
  return fail(fault, word.empty() ? "" : command, suggestion(word, entry->words));
}

Result<void> take_arguments(const CommandLine& line, Options& options) {
  options.command = line.command;
  options.page = line.argument("PAGE");
  options.rule = line.argument("RULE");
  for (const char* const name : {"TRACE", "RESULTS"}) {
    if (const auto files = line.arguments.find(name); files != line.arguments.end()) options.traces = files->second;
  }
  options.query.sql = line.argument("SQL");
  if (options.command == Command::compare) take_sides(line.arguments.begin()->second, options);
  if (const std::string file = line.argument("FILE"); !file.empty()) options.baseline = file;
  for (const auto& [name, target] : {std::pair("ACTION", &options.action), std::pair("SHELL", &options.shell)}) {
    const Result<std::string> word = take_word(line, name);
    if (!word) return Unexpected(word.error());
    *target = *word;
  }
  return check_arguments(options);
}

Result<Options> make_options(Options options, const GivenValues& values) {
  take_trace_options(values, options);
  if (options.command != Command::convert && options.command != Command::batch) {
    if (const Result<void> taken = take_outputs(raw_outputs(values), options); !taken) return Unexpected(taken.error());
  }
  if (const Result<void> checked = check_values(values, options); !checked) return Unexpected(checked.error());
  take_choices(values, options);
  take_page_options(values, options);
  take_limits(values, options);
  take_comparison(values, options);
  take_query(values, options);
  if (const Result<void> complete = check_query(options); !complete) return Unexpected(complete.error());
  if (const Result<void> complete = check_sides(options); !complete) return Unexpected(complete.error());
  if (const Result<void> complete = check_baseline(options); !complete) return Unexpected(complete.error());
  take_batch(values, options);
  if (options.command == Command::batch) options.output = values.text("output");
  if (const Result<void> complete = check_batch(options); !complete) return Unexpected(complete.error());
  if (options.command == Command::convert) {
    options.output = values.text("output");
    const GivenValue* const format = values.find("format");
    const Result<ConvertTarget> target =
        choose_convert_target(format != nullptr ? std::optional(format->text) : std::nullopt, options.output);
    if (!target) return Unexpected(target.error());
    options.convert = *target;
  }
  return options;
}

}  // namespace

tl::expected<std::variant<Options, Answer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                       const Surroundings& around) {
  const auto only = [](const Error& error) { return tl::unexpected(Errors{error}); };
  const Result<std::variant<CommandLine, Answer>> read = read_command_line(std::move(arguments));
  if (!read) return only(read.error());
  if (const Answer* const answer = std::get_if<Answer>(&*read)) return *answer;
  const CommandLine& line = std::get<CommandLine>(*read);
  Options options;
  options.today = around.today;
  if (const Result<void> taken = take_arguments(line, options); !taken) return only(taken.error());
  tl::expected<Settings, Errors> settings = collect_settings(line, around);
  if (!settings) return tl::unexpected(std::move(settings.error()));
  options.settings = *std::move(settings);
  const GivenValues values = options.settings.values;
  Result<Options> made = make_options(std::move(options), values);
  if (!made) return only(made.error());
  return *std::move(made);
}

}  // namespace doctor
