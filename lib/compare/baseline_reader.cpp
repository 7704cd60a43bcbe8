#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <optional>
#include <utility>

#include "base/try.h"
#include "compare/baseline.h"
#include "diagnose/judgement_words.h"
#include "text/document_keys.h"

namespace doctor {
namespace {

constexpr std::string_view kSchemaOfAnyVersion = "tfdata-doctor.baseline/";

// The words that a file may have.
constexpr std::array kStatuses = {VerdictStatus::input_bound, VerdictStatus::healthy, VerdictStatus::no_input_pipeline,
                                  VerdictStatus::inconclusive};
constexpr std::array kSeverities = {Severity::note, Severity::warning, Severity::error};

// The document is foreign: every access may fail, and the first failure ends it.

namespace dom = simdjson::dom;

/// What of an object is missing or of another type.
struct Misfit {
  std::string what;
};

/// Reads members of one object; after the first misfit nothing more is read.
class Members {
 public:
  Members(dom::element element, std::optional<Misfit>& misfit) : misfit_(misfit) {
    if (element.get(object_) != simdjson::SUCCESS) miss("an object");
  }

  template <typename Value>
  void read(std::string_view key, Value& value) {
    dom::element element;
    if (!find(key, element)) return;
    if (element.get(value) != simdjson::SUCCESS) miss(fmt::format("'{}'", key));
  }
  void read(std::string_view key, std::string& value) {
    std::string_view text;
    read(key, text);
    value = text;
  }
  /// An index below `limit`, or null.
  void read_index(std::string_view key, std::size_t limit, std::size_t& value) {
    dom::element element;
    value = kNoIndex;
    if (!find(key, element) || element.is_null()) return;
    std::uint64_t index = 0;
    if (element.get(index) != simdjson::SUCCESS || index >= limit) return miss(fmt::format("'{}'", key));
    value = static_cast<std::size_t>(index);
  }
  template <typename Value, std::size_t Count>
  void read_word(std::string_view key, const std::array<Value, Count>& values, Value& value) {
    std::string word;
    read(key, word);
    for (const Value known : values) {
      if (to_word(known) != word) continue;
      value = known;
      return;
    }
    miss(fmt::format("'{}'", key));
  }
  /// Calls `visit(element)` for each entry of an array.
  template <typename Visit>
  void read_each(std::string_view key, Visit visit) {
    dom::element element;
    if (!find(key, element)) return;
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return miss(fmt::format("'{}'", key));
    for (const dom::element entry : array) {
      if (misfit_) return;
      visit(entry);
    }
  }
  bool has(std::string_view key) const { return !misfit_ && object_.at_key(key).error() == simdjson::SUCCESS; }
  bool find(std::string_view key, dom::element& element) {
    if (misfit_) return false;
    if (object_.at_key(key).get(element) == simdjson::SUCCESS) return true;
    miss(fmt::format("'{}'", key));
    return false;
  }
  void miss(std::string what) {
    if (!misfit_) misfit_ = Misfit{std::move(what)};
  }

 private:
  dom::object object_;
  std::optional<Misfit>& misfit_;
};

class RunParser {
 public:
  /// What is wrong, or nothing.
  std::optional<Misfit> parse(dom::element element, StoredRun& run) {
    Members members(element, misfit_);
    members.read(key::id, run.id);
    members.read(key::label, run.label);
    RunSummary& summary = run.summary;
    members.read(key::source, summary.source);
    members.read(key::tool_version, summary.tool_version);
    if (members.has(key::recording)) read_facts(members, summary.recording);
    members.read_word(key::status, kStatuses, summary.status);
    members.read(key::confidence, summary.confidence);
    members.read(key::complete, summary.is_complete);
    if (members.has(key::torn)) members.read(key::torn, summary.is_torn);
    members.read_each(key::iterators, [&](dom::element entry) { read_iterator(entry, summary); });
    members.read_each(key::pipelines, [&](dom::element entry) { read_pipeline(entry, summary); });
    members.read_each(key::findings, [&](dom::element entry) {
      FindingSummary& finding = summary.findings.emplace_back();
      Members parts(entry, misfit_);
      parts.read(key::rule, finding.rule);
      parts.read_word(key::severity, kSeverities, finding.severity);
      parts.read(key::subject, finding.subject);
      parts.read(key::depends_on_load, finding.depends_on_load);
    });
    return misfit_;
  }

 private:
  void read_durations(dom::element element, DurationStatistics& durations) {
    Members parts(element, misfit_);
    parts.read(key::count, durations.count);
    parts.read(key::total_ps, durations.total);
    parts.read(key::p25_ps, durations.p25);
    parts.read(key::median_ps, durations.median);
    parts.read(key::p90_ps, durations.p90);
    parts.read(key::p99_ps, durations.p99);
    parts.read(key::tail_ps, durations.tail);
  }

  void read_durations(Members& members, std::string_view key, DurationStatistics& durations) {
    dom::element element;
    if (members.find(key, element)) read_durations(element, durations);
  }

  void read_settings(Members& members, std::vector<SettingSummary>& settings) {
    dom::object object;
    members.read(key::settings, object);
    if (misfit_) return;
    for (const auto field : object) {
      SettingSummary& setting = settings.emplace_back();
      setting.name = field.key;
      const bool has_range = field.value.at(0).get(setting.low) == simdjson::SUCCESS &&
                             field.value.at(1).get(setting.high) == simdjson::SUCCESS;
      if (!has_range) return members.miss("'settings'");
    }
  }

  void read_source(Members& members, SourceLine& source) {
    dom::element element;
    if (!members.find(key::source, element)) return;
    Members parts(element, misfit_);
    parts.read(key::file, source.file);
    parts.read(key::line, source.line);
    parts.read(key::code, source.code);
    parts.read(key::repository_file, source.repository_file);
  }

  void read_per_run(Members& members, CallsPerRun& calls) {
    dom::element element;
    if (!members.find(key::per_run, element)) return;
    Members parts(element, misfit_);
    parts.read(key::runs, calls.runs);
    parts.read(key::low, calls.low);
    parts.read(key::high, calls.high);
    parts.read(key::total, calls.total);
  }

  void read_facts(Members& members, RecordingFacts& facts) {
    dom::element element;
    if (!members.find(key::recording, element)) return;
    Members parts(element, misfit_);
    const auto read = [&](std::string_view key, auto& value) {
      if (parts.has(key)) parts.read(key, value);
    };
    read(key::host, facts.host);
    read(key::cpu, facts.cpu);
    read(key::cores, facts.cores);
    read(key::tensorflow, facts.tensorflow);
    read(key::process, facts.process);
    read(key::recorded_ns, facts.recorded_ns);
    const auto read_load = [&](std::string_view key, std::optional<double>& load) {
      if (parts.has(key)) parts.read(key, load.emplace());
    };
    read_load(key::other_load_before, facts.other_load.before);
    read_load(key::other_load_during, facts.other_load.during);
    read_load(key::other_load_after, facts.other_load.after);
  }

  void read_iterator(dom::element element, RunSummary& summary) {
    const std::size_t index = summary.iterators.size();
    IteratorSummary& iterator = summary.iterators.emplace_back();
    Members parts(element, misfit_);
    parts.read(key::long_name, iterator.long_name);
    parts.read(key::kind, iterator.kind);
    parts.read(key::words, iterator.words);
    parts.read_index(key::parent, index, iterator.parent);  // parents come first: so there are no circles
    parts.read(key::autotuned, iterator.is_autotuned);
    if (parts.has(key::parallelised_by_tf)) parts.read(key::parallelised_by_tf, iterator.is_parallelised_by_tf);
    read_settings(parts, iterator.settings);
    parts.read(key::calls, iterator.calls);
    if (parts.has(key::element_bytes)) parts.read(key::element_bytes, iterator.element_bytes.emplace());
    read_durations(parts, key::self, iterator.self);
    if (parts.has(key::user_name)) parts.read(key::user_name, iterator.user_name);
    if (parts.has(key::source)) read_source(parts, iterator.source.emplace());
    parts.read_each(key::function_ops, [&](dom::element entry) {
      OpSummary& op = iterator.function_ops.emplace_back();
      Members members_of_op(entry, misfit_);
      members_of_op.read(key::op, op.op);
      if (members_of_op.has(key::per_run)) read_per_run(members_of_op, op.per_run);
      read_durations(entry, op.durations);
    });
  }

  void read_pipeline(dom::element element, RunSummary& summary) {
    PipelineSummary& pipeline = summary.pipelines.emplace_back();
    Members parts(element, misfit_);
    parts.read_index(key::root, summary.iterators.size(), pipeline.root);
    parts.read(key::device, pipeline.is_device);
    parts.read(key::feeds_another, pipeline.feeds_another);
    parts.read(key::input_share, pipeline.input_share);
    read_durations(parts, key::get_next, pipeline.get_next);
    read_durations(parts, key::step, pipeline.step);
  }

  std::optional<Misfit> misfit_;
};

Unexpected not_a_baseline(const std::string& where, const std::string& what) {
  return fail("is not a baseline that this tool wrote: " + what, where,
              "make a new one with 'tfdata-doctor baseline add'");
}

Result<StoredRun> read_run(dom::element element, const std::string& where) {
  StoredRun run;
  if (const std::optional<Misfit> misfit = RunParser().parse(element, run)) {
    return not_a_baseline(where, misfit->what + " is missing or wrong in a run");
  }
  return run;
}

}  // namespace

Result<StoredRun> parse_stored_run(std::string_view json, const std::string& where) {
  dom::parser parser;
  dom::element element;
  if (parser.parse(json.data(), json.size()).get(element) != simdjson::SUCCESS) {
    return not_a_baseline(where, "a run is not JSON");
  }
  return read_run(element, where);
}

Result<std::vector<StoredRun>> parse_baseline_json(std::string_view json, const std::string& where) {
  std::vector<StoredRun> runs;
  if (json.empty()) return runs;
  dom::parser parser;
  dom::element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document); error != simdjson::SUCCESS) {
    return not_a_baseline(where, simdjson::error_message(error));
  }
  std::string_view schema;
  if (document[key::schema].get(schema) != simdjson::SUCCESS) return not_a_baseline(where, "'schema' is missing");
  if (schema != kBaselineSchema) {
    return fail(fmt::format("is a baseline of another version, '{}'; this tool reads '{}'", schema, kBaselineSchema),
                where, "use the version of tfdata-doctor that wrote it");
  }
  dom::array array;
  if (document[key::runs].get(array) != simdjson::SUCCESS) return not_a_baseline(where, "'runs' is missing");
  for (const dom::element element : array) {
    ASSIGN_OR_RETURN(StoredRun run, read_run(element, where));
    runs.push_back(std::move(run));
  }
  return runs;
}

bool sniff_baseline_json(std::string_view head) {
  const std::size_t brace = head.find_first_not_of(" \t\r\n");
  return brace != std::string_view::npos && head[brace] == '{' &&
         head.substr(0, 1024).find(kSchemaOfAnyVersion) != std::string_view::npos;
}

}  // namespace doctor
