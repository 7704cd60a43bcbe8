#include "command_line/command_table.h"

#include "command_line/command_functions.h"
#include "report/page.h"
#include "report/report.h"

namespace doctor {
namespace {

constexpr std::string_view kTraceNotes =
    "TRACE is a file (*.xplane.pb, *.trace.json, timeline_*.json, gzipped or not), - for standard input, the directory "
    "of a profiling run, or a TensorBoard log directory (its newest run is taken). Several files are hosts of one run; "
    "TF1 timelines are steps of one host. gs://, s3://, az://, abfs:// and hf:// are read by the cloud's own command "
    "(gcloud or gsutil, aws, az), else by Python with fsspec; -v says what is run.";
constexpr std::string_view kQueryNotes =
    "TRACE is a trace file, rows that batch wrote, - for standard input, or a directory: every trace below it, each by "
    "itself. TF1 timelines are steps of one host.";
constexpr std::string_view kCaptureNotes =
    "The traces are stored as TensorBoard expects them, DIR/plugins/profile/TIME/HOST_PORT.xplane.pb. Servers before "
    "TensorFlow 2.21 write the trace to that path of their own disk, so it must be a folder that both sides see. A "
    "host that fails does not stop the others. With --every, Ctrl-C ends the program with the exit status of the last "
    "capture.";
constexpr std::string_view kRecordingNotes =
    "A recording is a trace file, the directory of a profiling run, or a baseline. A directory of several recordings "
    "is all of them: every run of a log directory counts. Five recordings a side make a sound comparison.";
constexpr std::string_view kBatchNotes =
    "Every trace file below a directory is diagnosed, each by itself: all runs, not only the newest.";
constexpr std::string_view kWatchNotes =
    "A file is diagnosed when it is whole: its size and time are the same at two looks, or nothing was written to it "
    "for the TIME of --every. Each path is diagnosed once; with -o FILE a later start skips what has a row in FILE, "
    "too. Ctrl-C and SIGTERM end the program after a whole row, with the exit status of what it has diagnosed.";

constexpr ExitMeaning kFailed = {kExitFailure,
                                 "wrong usage, unreadable input, output that could not be written, or more memory or "
                                 "time needed than --max-memory and --timeout allow"};
constexpr ExitMeaning kFailedPlainly = {kExitFailure,
                                        "wrong usage, unreadable input, or output that could not be written"};
constexpr ExitMeaning kRowsFailed = {
    kExitFailure, "wrong usage, a trace or a directory that could not be read, or rows that could not be written"};
constexpr ExitMeaning kNoRowJudged = {
    kExitNothing, "no trace shows an input pipeline that could be judged, or a budget could not be evaluated on one"};
constexpr ExitMeaning kPrinted = {kExitClean, "printed"};
constexpr ExitMeaning kNotPrinted = {kExitFailure, "wrong usage, or output that could not be written"};

const CommandVariant kRunList = {.option = "list-runs", .formats = run_list_formats(), .run = run_list_runs};

const ArgumentEntry kTraces = {"TRACE", ArgumentKind::path, "Trace files, -, a run directory or a log directory",
                               /*repeats=*/true};

std::vector<std::string_view> schema_names() {
  std::vector<std::string_view> names;
  for (const DocumentSchema& schema : document_schemas()) {
    if (names.empty() || names.back() != schema.name) names.push_back(schema.name);
  }
  return names;
}

const std::vector<CommandEntry> kTraceCommands = {
    CommandEntry(
        "diagnose", Command::diagnose, run_diagnose, "Say what holds the input pipeline back (the default command)",
        "[OPTIONS] TRACE...",
        {.formats = diagnosis_formats(),
         .variants = {kRunList},
         .arguments = {kTraces},
         .examples = {{"logs/", "the newest run of a TensorBoard log directory"},
                      {"host.xplane.pb -v", "one trace file, with all evidence"},
                      {"--format json -o report.json trace.json.gz", "a report for programs"},
                      {"--max-input-share 0.1 --output sarif=doctor.sarif logs/",
                       "in CI: a budget, and a document for it"}},
         .notes = kTraceNotes,
         .exits =
             {{kExitClean, "analysed; no finding at or above --fail-on and no budget exceeded"},
              {kExitFinding, "analysed; a finding at or above --fail-on, or a budget exceeded"},
              kFailed,
              {kExitNothing,
               "nothing to judge: no tf.data events, too little evidence, or a budget that could not be evaluated"}}}),
    CommandEntry(
        "capture", Command::capture, run_capture, "Take a trace from a running job, and diagnose it",
        "HOST:PORT[,HOST:PORT...] [OPTIONS]",
        {.formats = diagnosis_formats(),
         .is_timed_by_part = true,
         .arguments = {{"HOST:PORT", ArgumentKind::text,
                        "Where the hosts of a job listen: each ran tf.profiler.experimental.server.start(PORT)"}},
         .examples = {{"capture localhost:6009", "two seconds of a job on this machine"},
                      {"capture w0:6009,w1:6009 --duration 5s -o logs", "all hosts of a job at the same time"},
                      {"capture w0:6009 --every 10m --keep-if-changed", "keep a trace when the verdict changes"},
                      {"capture w0:6009 --format prometheus", "metrics, to be scraped"}},
         .notes = kCaptureNotes,
         .exits =
             {{kExitClean, "captured and analysed; no finding at or above --fail-on and no budget exceeded"},
              {kExitFinding, "captured and analysed; a finding at or above --fail-on, or a budget exceeded"},
              {kExitFailure, "wrong usage, no host could be captured, or output that could not be written"},
              {kExitNothing,
               "nothing to judge: no tf.data events, too little evidence, or a budget that could not be evaluated"}}}),
    CommandEntry(
        "show", Command::show, run_show, "Show the numbers of a diagnosis", "PAGE [OPTIONS] TRACE...",
        {.variants = {kRunList},
         .csv_holds = "some pages",
         .arguments = {{"PAGE", ArgumentKind::word, "Which numbers", false, page_names()}, kTraces},
         .examples = {{"show overview logs/", "step time and what it goes to"},
                      {"show calls --top 3 host.xplane.pb", "the three longest slow GetNext calls"},
                      {"show timeline host.xplane.pb", "typical steps: who works while the loop waits or runs"},
                      {"show ops --sort self_us --format csv trace.json.gz", "every op, for a spreadsheet"}},
         .notes = kTraceNotes,
         .exits = {{kExitClean, "shown; findings do not count"},
                   kFailed,
                   {kExitNothing,
                    "nothing to show: no tf.data events, or for overview, hosts, steps and ops no events at all"}}}),
    CommandEntry(
        "whatif", Command::whatif, run_whatif, "Predict what fixes would gain, from a model of the pipeline",
        "[OPTIONS] TRACE...",
        {.formats = whatif_formats(),
         .variants = {kRunList},
         .csv_holds = "a row for each fix",
         .arguments = {kTraces},
         .examples = {{"whatif logs/", "every fix that is known, by its gain"},
                      {"whatif --fix parallel_map:Map,p=8 --fix prefetch logs/", "two fixes together"},
                      {"whatif --ideal traces_ideal traces/run_000",
                       "how much of the gap to a measured ceiling they close"},
                      {"whatif --plan --cores 16 logs/", "what is needed on a larger machine"}},
         .notes = kTraceNotes,
         .exits = {{kExitClean, "predicted, whatever the gain"},
                   kFailed,
                   {kExitNothing, "nothing to predict: the trace shows too little of a pipeline for a model"}}}),
    CommandEntry("checklist", Command::checklist, run_checklist,
                 "Answer the questions of TensorFlow's guide to tf.data analysis, in its order", "[OPTIONS] TRACE...",
                 {.formats = checklist_formats(),
                  .variants = {kRunList},
                  .arguments = {kTraces},
                  .examples = {{"checklist logs/", "each question with its answer and what it rests on"},
                               {"checklist --format markdown logs/", "for a report"}},
                  .notes = kTraceNotes,
                  .exits = {{kExitClean, "answered, whatever the answers"},
                            kFailed,
                            {kExitNothing, "nothing to answer: no tf.data events"}}}),
    CommandEntry(
        "compare", Command::compare, run_compare,
        "Say whether candidate recordings are slower than base recordings, and where",
        "[OPTIONS] BASE... -- CANDIDATE...",
        {.formats = comparison_formats(),
         .arguments = {{"BASE... -- CANDIDATE", ArgumentKind::path,
                        "Recordings: trace files, run directories, directories of them, baselines", /*repeats=*/true}},
         .examples = {{"compare main/ -- branch/", "two directories of recordings"},
                      {"compare --baseline doctor.json branch/", "against the runs of a baseline"},
                      {"compare --format markdown -o comment.md main/ -- branch/", "a comment on a pull request"}},
         .notes = kRecordingNotes,
         .exits = {{kExitClean, "compared; no regression, no new finding at or above --fail-on and no budget exceeded"},
                   {kExitFinding,
                    "a regression, a new finding at or above --fail-on, or a budget that the candidate exceeds"},
                   kFailed,
                   {kExitNothing, "inconclusive: too few recordings, or nothing in them to compare"}}}),
    CommandEntry(
        "baseline", Command::baseline, run_baseline, "Keep small summaries of recordings for later comparisons",
        "add|show|log|prune FILE [OPTIONS] [TRACE...]",
        {.formats = baseline_formats(),
         .variants = {{.action = "log", .formats = history_formats()}},
         .csv_holds = "of log alone",
         .arguments = {{"ACTION",
                        ArgumentKind::word,
                        "What to do: add, show, log or prune",
                        false,
                        {"add", "show", "log", "prune"}},
                       {"FILE", ArgumentKind::path, "The baseline: JSON, to commit or to keep beside the recordings"},
                       kTraces},
         .examples = {{"baseline add doctor.json --label v1.2 logs/", "add all runs of a log directory"},
                      {"baseline show doctor.json", "list its runs"},
                      {"baseline log doctor.json", "its numbers over versions, and since which one they changed"},
                      {"baseline prune doctor.json --keep 20", "keep the newest 20"}},
         .notes = kRecordingNotes,
         .exits = {{kExitClean, "done"}, kFailed}}),
    CommandEntry(
        "batch", Command::batch, run_batch, "Diagnose many traces, each by itself: a row of NDJSON each",
        "[OPTIONS] TRACE...",
        {.is_timed_by_part = true,
         .arguments = {{"TRACE", ArgumentKind::path, "Trace files, -, directories that are searched at any depth",
                        /*repeats=*/true}},
         .examples = {{"batch -o rows.ndjson traces/", "every trace below a directory"},
                      {"batch -o rows.ndjson --resume traces/", "go on after an interruption"},
                      {"batch --shard 2/8 --files-from list.txt", "the second of eight parts of a list"},
                      {"batch --tar - < traces.tar", "the traces of an archive, without unpacking it"}},
         .notes = kBatchNotes,
         .exits = {{kExitClean,
                    "every trace has a row, and none has a finding at or above --fail-on or exceeds a budget"},
                   {kExitFinding, "a trace has a finding at or above --fail-on, or exceeds a budget"},
                   kRowsFailed,
                   kNoRowJudged}}),
    CommandEntry("watch", Command::watch, run_watch,
                 "Diagnose the traces of a folder as they appear: a row of NDJSON each", "[OPTIONS] DIR",
                 {.is_timed_by_part = true,
                  .arguments = {{"DIR", ArgumentKind::path, "The folder that is followed, with all below it"}},
                  .examples = {{"watch -o rows.ndjson logs/",
                                "until Ctrl-C; 'fleet rows.ndjson' ranks what it has found"},
                               {"watch --once -q -o rows.ndjson logs/", "what is new since the last time, for cron"},
                               {"watch --every 5m logs/", "all of it as rows on standard output"}},
                  .notes = kWatchNotes,
                  .exits = {{kExitClean,
                             "no new trace, or none has a finding at or above --fail-on or exceeds a budget"},
                            {kExitFinding, "a new trace has a finding at or above --fail-on, or exceeds a budget"},
                            kRowsFailed,
                            kNoRowJudged}}),
};

const std::vector<CommandEntry> kTableCommands = {
    CommandEntry("convert", Command::convert, run_convert,
                 "Write all events of traces as a Chrome trace, NDJSON or CSV", "[OPTIONS] TRACE... -o FILE",
                 {.variants = {kRunList},
                  .arguments = {kTraces},
                  .examples = {{"convert host.xplane.pb -o host.trace.json.gz", "to open in ui.perfetto.dev"},
                               {"convert --annotate host.xplane.pb -o host.trace.json.gz",
                                "with the diagnosis as tracks on top"},
                               {"convert logs/ -o events.ndjson.gz", "an event a line, for a warehouse"},
                               {"convert --format csv trace.json.gz", "to standard output"}},
                  .notes = kTraceNotes,
                  .exits = {{kExitClean, "converted"}, kFailed}}),
    CommandEntry(
        "fleet", Command::fleet, run_fleet, "Rank what holds many stored traces up, from the rows of batch",
        "[OPTIONS] RESULTS...",
        {.formats = fleet_formats(),
         .variants = {{.option = "partial"}},
         .csv_holds = "the causes alone",
         .arguments = {{"RESULTS", ArgumentKind::path,
                        "Files of rows or of --partial (NDJSON, also gzip), - for standard input",
                        /*repeats=*/true}},
         .examples = {{"fleet rows.ndjson", "causes by the hours that they cost"},
                      {"fleet --price 2.48 rows.ndjson", "with what the fixes are worth, at the price of an hour"},
                      {"fleet --group-by 'path:team-[a-z]*' rows.ndjson",
                       "what each team loses, by a part of the path"},
                      {"fleet --top 3 --format markdown shard*.ndjson", "for a report"},
                      {"fleet --format csv rows.ndjson.gz -o causes.csv", "for a spreadsheet"},
                      {"fleet --partial rows.ndjson -o sums.ndjson", "of a part of the rows, for a fleet of all"}},
         .exits = {{kExitClean, "ranked"}, kFailedPlainly, {kExitNothing, "no row holds a verdict"}}}),
    CommandEntry("query", Command::query, run_query, "Ask in SQL about traces, or about what batch wrote about them",
                 "SQL [OPTIONS] TRACE...",
                 {.formats = query_formats(),
                  .arguments = {{"SQL", ArgumentKind::text, "One statement that reads; - takes it from standard input"},
                                kTraces},
                  .examples = {{"query 'select verdict, culprit from traces' logs/", "what diagnose says, as a row"},
                               {"query 'select count(*) from traces' rows.ndjson", "about the rows of batch"},
                               {"query --schema", "the tables and their columns; --examples prints more SQL"}},
                  .notes = kQueryNotes,
                  .exits = {{kExitClean, "answered, whatever the answer"}, kFailed}}),
    CommandEntry("schema", Command::schema, run_schema,
                 "Print the JSON Schema of a document, or the table that a warehouse loads",
                 "DOCUMENT|--for ENGINE [OPTIONS]",
                 {.arguments = {{"DOCUMENT", ArgumentKind::word,
                                 "The document: report of tfdata-doctor.report/2, and so on", false, schema_names()}},
                  .examples = {{"schema report", "of what 'diagnose --format json' writes"},
                               {"schema --for duckdb", "the table of events, as 'convert --format ndjson' writes them"},
                               {"schema --for bigquery --of rows -o rows.json", "the table of the rows of batch"}},
                  .exits = {kPrinted, kNotPrinted}}),
    CommandEntry("explain", Command::explain, run_explain,
                 "Print the page of a rule, or why it fired on a trace or did not", "RULE [OPTIONS] [TRACE...]",
                 {.formats = explanation_formats(),
                  .variants = {kRunList},
                  .arguments = {{"RULE", ArgumentKind::rule, "Name of the rule"}, kTraces},
                  .examples = {{"explain slow-source", "what it sees, why it matters, what to do"},
                               {"explain slow-source trace.json.gz", "every question that it asked of a trace"}},
                  .notes = kTraceNotes,
                  .exits = {{kExitClean, "explained; findings do not count"},
                            kFailed,
                            {kExitNothing, "a trace without tf.data events"}}}),
    CommandEntry("rules", Command::rules, run_rules, "List all rules", "[OPTIONS]",
                 {.formats = rule_list_formats(),
                  .examples = {{"rules", "a line each"}, {"rules --format json", "with their thresholds"}},
                  .exits = {kPrinted, kNotPrinted}}),
};

const std::vector<CommandEntry> kOwnCommands = {
    CommandEntry("config", Command::config, run_config, "Show the settings in force and where each comes from",
                 "show [OPTIONS]",
                 {.formats = settings_formats(),
                  .arguments = {{"ACTION", ArgumentKind::word, "What to do: show", false, {"show"}}},
                  .examples = {{"config show", "the settings in this directory"},
                               {"config show --config ci.toml --format json", "those of another file, for programs"}},
                  .exits = {kPrinted, {kExitFailure, "wrong usage, or a configuration file with a fault"}}}),
    CommandEntry(
        "completions", Command::completions, run_completions, "Print what completes the command line in a shell",
        "bash|zsh|fish [OPTIONS]",
        {.arguments = {{"SHELL", ArgumentKind::word, "bash, zsh or fish", false, {"bash", "zsh", "fish"}}},
         .examples = {{"completions bash > ~/.local/share/bash-completion/completions/tfdata-doctor", "for bash"},
                      {"completions fish > ~/.config/fish/completions/tfdata-doctor.fish", "for fish"}},
         .exits = {kPrinted, kNotPrinted}}),
    CommandEntry(
        "man", Command::man, run_man, "Print the manual page, for man -l", "[OPTIONS]",
        {.examples = {{"man -o tfdata-doctor.1", "then man -l tfdata-doctor.1"}}, .exits = {kPrinted, kNotPrinted}}),
    CommandEntry("help", Command::help, run_help, "Print the help of a command, as COMMAND --help does", "[COMMAND]",
                 {.arguments = {{"COMMAND", ArgumentKind::text, "Name of the command"}},
                  .examples = {{"help", "all commands"}, {"help compare", "one command, with its options"}},
                  .exits = {kPrinted, kNotPrinted}}),
    CommandEntry("complete", Command::complete, run_complete, "Print what may follow the words of a command line",
                 "WORD...",
                 {.arguments = {{"WORD", ArgumentKind::text, "The words up to the cursor", /*repeats=*/true}},
                  .is_hidden = true}),
};

}  // namespace

std::span<const CommandEntry> command_table() {
  static const std::vector<CommandEntry> kCommands = [] {
    std::vector<CommandEntry> commands = kTraceCommands;
    commands.insert(commands.end(), kTableCommands.begin(), kTableCommands.end());
    commands.insert(commands.end(), kOwnCommands.begin(), kOwnCommands.end());
    return commands;
  }();
  return kCommands;
}

const CommandEntry& entry_of(Command command) {
  const std::span<const CommandEntry> commands = command_table();
  return *std::ranges::find(commands, command, &CommandEntry::command);
}

std::vector<OutputFormat> formats_of(const CommandEntry& command, std::string_view page) {
  std::vector<OutputFormat> all = command.formats;
  const auto add = [&all](const std::vector<OutputFormat>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const CommandVariant& variant : command.variants) {
    if (variant.option.empty()) add(variant.formats);
  }
  if (command.command == Command::show) {
    for (const Page* const one : pages()) {
      if (find_page(page) == nullptr || one->name == page) add(page_formats(*one));
    }
  }
  return in_order_of_help(all);
}

const CommandEntry* find_command(std::string_view name) {
  const std::span<const CommandEntry> commands = command_table();
  const auto found = std::ranges::find(commands, name, &CommandEntry::name);
  return found == commands.end() ? nullptr : &*found;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : command_table()) {
    if (!entry.is_hidden) names.push_back(entry.name);
  }
  return names;
}

}  // namespace doctor
