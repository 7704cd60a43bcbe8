#include "options.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "memory_size.h"
#include "nearest.h"
#include "pages.h"

namespace doctor {
namespace {

struct CommandEntry {
  std::string_view name;
  Command command;
  std::string_view summary;
};

constexpr std::array<CommandEntry, 5> kCommands = {{
    {"diagnose", Command::diagnose, "Say what holds the input pipeline back (the default command)"},
    {"show", Command::show, "Show the numbers behind a diagnosis"},
    {"convert", Command::convert, "Write all events of traces as a Chrome trace, NDJSON or CSV"},
    {"explain", Command::explain, "Print the page of a rule, or why it fired on a trace or did not"},
    {"rules", Command::rules, "List all rules"},
}};

/// Options whose next argument is their value: it is not mistaken for the command.
const std::vector<std::string_view> kValueOptions = {"--format", "-o",         "--output",  "--color", "--fail-on",
                                                     "--set",    "--run",      "--threads", "--call",  "--max-memory",
                                                     "--top",    "--pipeline", "--sort",    "--by"};

constexpr unsigned kMostUsefulThreads = 4;  // more do not read faster
constexpr unsigned kMostThreads = 256;

constexpr std::string_view kFooter =
    "TRACE is a file (*.xplane.pb, *.trace.json, timeline_*.json, gzipped or not), - for standard input, the "
    "directory\n"
    "of a profiling run, or a TensorBoard log directory (its newest run is taken). Several files are hosts of one "
    "run;\n"
    "TF1 timelines are steps of one host.\n"
    "\n"
    "Exit status: 0 analysed and no finding at or above --fail-on; 1 such a finding; 2 wrong usage, unreadable "
    "input,\n"
    "output that could not be written, or more memory needed than --max-memory allows; 3 nothing to judge: no tf.data\n"
    "events, or too little evidence.\n";

/// Texts as CLI11 hands them over, before their meaning is checked.
struct RawOptions {
  std::string format = "text";
  std::optional<std::string> convert_format;
  std::string color = "auto";
  std::string fail_on = "warning";
  std::string run;
  std::optional<std::string> threads;
  std::optional<std::string> max_memory;
  std::optional<std::string> call;
  std::optional<std::string> top;
  std::optional<std::string> by;
};

/// CLI11's help with usage lines that show what people type.
class HelpPage : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool is_program = app->get_parent() == nullptr;
    if (!is_program) return CLI::Formatter::make_usage(app, name);
    return "Usage: tfdata-doctor [diagnose] [OPTIONS] TRACE...\n"
           "       tfdata-doctor show PAGE [OPTIONS] TRACE...\n"
           "       tfdata-doctor convert TRACE... -o FILE\n"
           "       tfdata-doctor explain RULE [TRACE...]\n"
           "       tfdata-doctor rules\n\n"
           "Examples:\n"
           "  tfdata-doctor logs/                      the newest run of a TensorBoard log directory\n"
           "  tfdata-doctor host.xplane.pb -v          one trace file, with all evidence\n"
           "  tfdata-doctor --format json -o report.json trace.json.gz\n";
  }
};

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const CommandEntry& entry : kCommands) names.push_back(entry.name);
  return names;
}

/// Position of the first argument that is neither an option nor the value of one; the size if there is none.
std::size_t first_plain_argument(const std::vector<std::string>& arguments) {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    if (argument == "--") return std::min(index + 1, arguments.size());
    if (argument.size() < 2 || argument.front() != '-') return index;
    if (std::find(kValueOptions.begin(), kValueOptions.end(), argument) != kValueOptions.end()) ++index;
  }
  return arguments.size();
}

/// Whether a word in place of the command is a slip of a command's name and no file.
bool is_misspelt_command(const std::string& word) {
  struct stat ignored {};
  const bool may_be_path = word == "-" || word.find_first_of("/.") != std::string::npos;
  return !may_be_path && ::stat(word.c_str(), &ignored) != 0 && !nearest(word, command_names()).empty();
}

/// Puts the command first: the one that is named, else `diagnose`.
Result<void> put_command_first(std::vector<std::string>& arguments) {
  const std::size_t index = first_plain_argument(arguments);
  const bool is_after_dashes = index > 0 && index <= arguments.size() && arguments[index - 1] == "--";
  if (index < arguments.size() && !is_after_dashes) {
    const std::vector<std::string_view> names = command_names();
    const std::string word = arguments[index];
    if (std::find(names.begin(), names.end(), word) != names.end()) {
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(index));
      arguments.insert(arguments.begin(), word);
      return {};
    }
    if (is_misspelt_command(word)) return fail("no command or file '" + word + "'", {}, suggestion(word, names));
  }
  const auto is_for_program = [](const std::string& argument) {
    return argument == "--help" || argument == "-h" || argument == "--version";
  };
  const bool is_answered = std::any_of(arguments.begin(), arguments.end(), is_for_program);
  if (index < arguments.size() || !is_answered) arguments.insert(arguments.begin(), "diagnose");
  return {};
}

void add_output_options(CLI::App& app, Command command, Options& options, RawOptions& raw) {
  app.add_option("--format", raw.format,
                 command == Command::show ? "How to print it: text, json or, for some pages, csv"
                                          : "How to print it: text or json")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Write to FILE, as a whole or not at all")->type_name("FILE");
  app.add_option("--color", raw.color, "auto, always or never; auto respects NO_COLOR")
      ->type_name("WHEN")
      ->capture_default_str();
  app.add_flag("-q,--quiet", options.quiet, "Only the verdict, no warnings");
  app.add_flag("-v,--verbose", options.verbose, "With the evidence of every finding");
}

void add_trace_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("TRACE", options.traces, "Trace files, -, a run directory or a log directory")->type_name("");
  app.add_option("--run", raw.run, "Take this run of a log directory instead of the newest")->type_name("NAME");
  app.add_flag("--list-runs", options.list_runs, "List the runs of a log directory, newest first");
  app.add_flag("--timings", options.timings, "Print the time of every stage and rule to standard error");
  app.add_option("--threads", raw.threads, "Threads that read a trace, 1 to 256 (default: the cores, at most 4)")
      ->type_name("N");
  app.add_option("--max-memory", raw.max_memory,
                 "End with an error where more memory is needed, e.g. 512M, 1.5GB (K, M, G: powers of 1024)")
      ->type_name("SIZE");
}

/// "tree: …" for every page, a line each, and which have CSV.
std::string page_help() {
  std::string help;
  for (const Page& page : pages()) {
    help += fmt::format("{}{}: {}{}", help.empty() ? "" : "\n", page.name, page.summary, page.has_csv ? " (csv)" : "");
  }
  return help;
}

void add_page_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--call", raw.call, "calls: only the call of this number in its pipeline")->type_name("N");
  app.add_option("--pipeline", options.pipeline, "calls: only this pipeline, an id as 'show tree' prints it")
      ->type_name("ID");
  app.add_option(
         "--top", raw.top,
         "How many calls or rows, 0: all (default: calls the 10 longest slow ones, json and csv 100, 0: slow or "
         "not; tables 20, json and csv all)")
      ->type_name("N");
  app.add_option("--sort", options.sort, "Tables: sort by this column, a name as --format csv prints it")
      ->type_name("COLUMN");
  app.add_option("--by", raw.by, "ops: a row for each name (default) or for each type")->type_name("name|type");
  app.add_flag("--with-idle", options.with_idle, "ops: with the time in which no op ran");
}

void add_set_option(CLI::App& app, Options& options) {
  app.add_option("--set", options.settings, "Set a threshold, e.g. input-bound.min_share=0.1; may be repeated")
      ->type_name("RULE.THRESHOLD=VALUE")
      ->allow_extra_args(false);
}

void add_convert_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--format", raw.convert_format,
                 "chrome (opens in Perfetto and chrome://tracing), ndjson or csv (an event a line); default: what the "
                 "name after -o ends in, .json, .ndjson or .csv, each with .gz to compress it")
      ->type_name("FORMAT");
  app.add_option("-o,--output", options.output, "Write to FILE, as a whole or not at all; else to standard output")
      ->type_name("FILE");
  app.add_flag("-q,--quiet", options.quiet, "Do not tell what was left out");
}

void add_options(CLI::App& app, const CommandEntry& entry, Options& options, RawOptions& raw) {
  app.allow_extras();
  app.footer(std::string(kFooter));
  switch (entry.command) {
    case Command::diagnose:
      add_trace_options(app, options, raw);
      app.add_option("--fail-on", raw.fail_on, "Exit with 1 on a finding from here up: error, warning, note or never")
          ->type_name("SEVERITY")
          ->capture_default_str();
      add_set_option(app, options);
      break;
    case Command::show:
      app.add_option("PAGE", options.page, page_help())->type_name("");
      add_trace_options(app, options, raw);
      add_page_options(app, options, raw);
      break;
    case Command::explain:
      app.add_option("RULE", options.rule, "Name of the rule")->type_name("");
      add_trace_options(app, options, raw);
      add_set_option(app, options);
      break;
    case Command::convert:
      add_trace_options(app, options, raw);
      return add_convert_options(app, options, raw);
    case Command::rules:
      break;
  }
  add_output_options(app, entry.command, options, raw);
}

/// The index of `word` in `names`.
Result<std::size_t> choose(const std::string& option, const std::string& word,
                           const std::vector<std::string_view>& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return fail("unknown value '" + word + "'", option, suggestion(word, names));
  return static_cast<std::size_t>(found - names.begin());
}

/// Cores that this process may run on. Not hardware_concurrency(): glibc counts those of the machine.
unsigned usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return static_cast<unsigned>(CPU_COUNT(&cores));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// A whole number; nullopt if the text is none.
std::optional<std::size_t> parse_number(const std::string& text) {
  std::size_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  return error == std::errc() && end == text_end ? std::optional(number) : std::nullopt;
}

Result<unsigned> parse_threads(const std::string& text) {
  const std::size_t threads = parse_number(text).value_or(0);
  if (threads < 1 || threads > kMostThreads) {
    return fail(fmt::format("'{}' is no whole number from 1 to {}", text, kMostThreads), "--threads");
  }
  return static_cast<unsigned>(threads);
}

/// "'show calls' and 'show ops' have it".
std::string pages_with(bool Page::*ability) {
  std::string names;
  for (const Page& page : pages()) {
    if (page.*ability) names += (names.empty() ? "'show " : ", 'show ") + std::string(page.name) + "'";
  }
  return names;
}

/// What only some pages know.
Result<void> take_page_options(const RawOptions& raw, Options& options) {
  struct Given {
    const char* name;
    bool is_given;
    bool Page::*ability;
  };
  const std::array<Given, 6> given = {{{"--call", raw.call.has_value(), &Page::shows_calls},
                                       {"--pipeline", options.pipeline.has_value(), &Page::shows_calls},
                                       {"--top", raw.top.has_value(), &Page::has_top},
                                       {"--sort", options.sort.has_value(), &Page::is_table},
                                       {"--by", raw.by.has_value(), &Page::shows_ops},
                                       {"--with-idle", options.with_idle, &Page::shows_ops}}};
  const Page& page = *find_page(options.page);
  for (const Given& option : given) {
    if (!option.is_given || page.*option.ability) continue;
    return fail(fmt::format("unknown option '{}' of show {}", option.name, options.page), {},
                "it is for " + pages_with(option.ability));
  }
  if (raw.by) {
    const Result<std::size_t> by = choose("--by", *raw.by, {"name", "type"});
    if (!by) return Unexpected(by.error());
    options.by_type = *by == 1;
  }
  if (raw.call) {
    options.call = parse_number(*raw.call);
    if (options.call.value_or(0) < 1) return fail("'" + *raw.call + "' is no whole number from 1 up", "--call");
  }
  if (raw.top) {
    options.top = parse_number(*raw.top);
    if (!options.top) return fail("'" + *raw.top + "' is no whole number from 0 up", "--top");
  }
  return {};
}

Result<void> take_limits(const RawOptions& raw, Options& options) {
  options.threads = std::min(usable_cores(), kMostUsefulThreads);
  if (raw.threads) {
    const Result<unsigned> threads = parse_threads(*raw.threads);
    if (!threads) return Unexpected(threads.error());
    options.threads = *threads;
  }
  if (!raw.max_memory) return {};
  const std::optional<std::uint64_t> bytes = parse_memory_size(*raw.max_memory);
  if (!bytes) return fail("'" + *raw.max_memory + "' is no size", "--max-memory", std::string(kMemorySizes));
  options.max_memory = MemoryLimit{*bytes, *raw.max_memory};
  return {};
}

Result<void> take_choices(const RawOptions& raw, Options& options) {
  if (!raw.run.empty()) options.run = raw.run;
  if (options.command == Command::convert) {
    const Result<ConvertTarget> target = choose_convert_target(raw.convert_format, options.output);
    if (!target) return Unexpected(target.error());
    options.convert = *target;
    return {};
  }
  const Page* const page = options.command == Command::show ? find_page(options.page) : nullptr;
  const bool has_csv = page != nullptr && page->has_csv;
  if (raw.format == "csv" && !has_csv)
    return fail("there is no CSV of this", "--format", pages_with(&Page::has_csv) + " can be written as CSV");
  std::vector<std::string_view> formats = {"text", "json"};
  if (has_csv) formats.emplace_back("csv");
  const Result<std::size_t> format = choose("--format", raw.format, formats);
  if (!format) return Unexpected(format.error());
  options.format = static_cast<OutputFormat>(*format);
  const Result<std::size_t> color = choose("--color", raw.color, {"auto", "always", "never"});
  if (!color) return Unexpected(color.error());
  options.color = static_cast<ColorChoice>(*color);
  const Result<std::size_t> fail_on = choose("--fail-on", raw.fail_on, {"note", "warning", "error", "never"});
  if (!fail_on) return Unexpected(fail_on.error());
  options.fail_on = *fail_on < 3 ? std::optional(static_cast<Severity>(*fail_on)) : std::nullopt;
  return {};
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
  const bool needs_trace =
      options.command == Command::diagnose || options.command == Command::show || options.command == Command::convert;
  if (needs_trace && options.traces.empty()) return fail("no trace given", {}, help);
  return {};
}

/// Arguments that the command does not know.
Result<void> check_extras(const CLI::App& app) {
  std::vector<std::string> extras = app.remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());  // ends the options, is none itself
  if (extras.empty()) return {};
  const std::string& extra = extras.front();
  if (extra.front() != '-') return fail("unexpected argument '" + extra + "'", {}, "see 'tfdata-doctor --help'");
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = extra.substr(0, extra.find('='));
  const std::string_view near = nearest(name, {known.begin(), known.end()});
  return fail(
      "unknown option '" + name + "' of " + app.get_name(), {},
      near.empty() ? "see 'tfdata-doctor " + app.get_name() + " --help'" : "did you mean '" + std::string(near) + "'?");
}

}  // namespace

Result<std::variant<Options, Answer>> parse_command_line(std::vector<std::string> arguments) {
  if (const Result<void> ordered = put_command_first(arguments); !ordered) return Unexpected(ordered.error());
  Options options;
  RawOptions raw;
  CLI::App app("Reads TensorFlow profiler traces and says what holds a tf.data input pipeline back.", "tfdata-doctor");
  app.require_subcommand(0, 1);  // else a trace named like a command would be taken for one
  app.formatter(std::make_shared<HelpPage>());
  app.set_version_flag("--version", "tfdata-doctor " DOCTOR_VERSION);
  app.footer("'tfdata-doctor COMMAND --help' lists the options of a command.\n\n" + std::string(kFooter));
  std::vector<CLI::App*> commands;
  for (const CommandEntry& entry : kCommands) {
    commands.push_back(app.add_subcommand(std::string(entry.name), std::string(entry.summary)));
    add_options(*commands.back(), entry, options, raw);
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return Answer{app.help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), {}, "see 'tfdata-doctor --help'");
  }
  for (std::size_t index = 0; index < commands.size(); ++index) {
    if (!commands[index]->parsed()) continue;
    options.command = kCommands[index].command;
    if (const Result<void> known = check_extras(*commands[index]); !known) return Unexpected(known.error());
  }
  if (const Result<void> complete = check_arguments(options); !complete) return Unexpected(complete.error());
  if (const Result<void> chosen = take_choices(raw, options); !chosen) return Unexpected(chosen.error());
  if (options.command == Command::show) {
    if (const Result<void> taken = take_page_options(raw, options); !taken) return Unexpected(taken.error());
  }
  if (const Result<void> limited = take_limits(raw, options); !limited) return Unexpected(limited.error());
  return options;
}

}  // namespace doctor
