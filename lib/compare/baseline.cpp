#include "compare/baseline.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "diagnose/judgement_words.h"

namespace doctor {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kSchema = "tfdata-doctor.baseline/1";
constexpr std::string_view kSchemaOfAnyVersion = "tfdata-doctor.baseline/";

// The words that a file may have.
constexpr std::array kStatuses = {VerdictStatus::input_bound, VerdictStatus::healthy, VerdictStatus::no_input_pipeline,
                                  VerdictStatus::inconclusive};
constexpr std::array kSeverities = {Severity::note, Severity::warning, Severity::error};

std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

OrderedJson index_json(std::size_t index) {
  return index == kNoIndex ? OrderedJson(nullptr) : OrderedJson(index);
}

OrderedJson durations_json(const DurationStatistics& durations) {
  return {{"count", durations.count},      {"total_ps", durations.total}, {"p25_ps", durations.p25},
          {"median_ps", durations.median}, {"p90_ps", durations.p90},     {"p99_ps", durations.p99},
          {"tail_ps", durations.tail}};
}

OrderedJson per_run_json(const CallsPerRun& calls) {
  return {{"runs", calls.runs}, {"low", calls.low}, {"high", calls.high}, {"total", calls.total}};
}

OrderedJson source_json(const SourceLine& source) {
  return {
      {"file", source.file}, {"line", source.line}, {"code", source.code}, {"repository_file", source.repository_file}};
}

/// Only what is known.
OrderedJson facts_json(const RecordingFacts& facts) {
  OrderedJson json = OrderedJson::object();
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  add("host", facts.host);
  add("cpu", facts.cpu);
  if (facts.cores > 0) json["cores"] = facts.cores;
  add("tensorflow", facts.tensorflow);
  add("process", facts.process);
  if (facts.recorded_ns != 0) json["recorded_ns"] = facts.recorded_ns;
  const OtherLoad& load = facts.other_load;
  if (load.before) json["other_load_before"] = *load.before;
  if (load.during) json["other_load_during"] = *load.during;
  if (load.after) json["other_load_after"] = *load.after;
  return json;
}

/// What a document says: what every version has had, which identifies a run, or all.
enum class Extent { identity, all };

OrderedJson iterator_json(const IteratorSummary& iterator, Extent extent) {
  OrderedJson settings = OrderedJson::object();
  for (const SettingSummary& setting : iterator.settings) settings[setting.name] = {setting.low, setting.high};
  OrderedJson ops = OrderedJson::array();
  for (const OpSummary& op : iterator.function_ops) {
    OrderedJson row = {{"op", op.op}};
    row.update(durations_json(op.durations));
    if (extent == Extent::all && op.per_run.runs > 0) row["per_run"] = per_run_json(op.per_run);
    ops.push_back(std::move(row));
  }
  OrderedJson json = {{"long_name", iterator.long_name},
                      {"kind", iterator.kind},
                      {"words", iterator.words},
                      {"parent", index_json(iterator.parent)},
                      {"autotuned", iterator.is_autotuned},
                      {"settings", std::move(settings)},
                      {"calls", iterator.calls},
                      {"self", durations_json(iterator.self)},
                      {"function_ops", std::move(ops)}};
  // Where there are none, as in the baselines of earlier versions, the identifier of a run stays what it was.
  if (!iterator.user_name.empty()) json["user_name"] = iterator.user_name;
  if (iterator.source) json["source"] = source_json(*iterator.source);
  if (extent == Extent::all && iterator.element_bytes) json["element_bytes"] = *iterator.element_bytes;
  return json;
}

OrderedJson pipeline_json(const PipelineSummary& pipeline) {
  return {{"root", index_json(pipeline.root)},
          {"device", pipeline.is_device},
          {"feeds_another", pipeline.feeds_another},
          {"input_share", pipeline.input_share},
          {"get_next", durations_json(pipeline.get_next)},
          {"step", durations_json(pipeline.step)}};
}

/// All that was measured.
OrderedJson measured_json(const RunSummary& summary, Extent extent) {
  OrderedJson iterators = OrderedJson::array();
  for (const IteratorSummary& iterator : summary.iterators) iterators.push_back(iterator_json(iterator, extent));
  OrderedJson pipelines = OrderedJson::array();
  for (const PipelineSummary& pipeline : summary.pipelines) pipelines.push_back(pipeline_json(pipeline));
  OrderedJson findings = OrderedJson::array();
  for (const FindingSummary& finding : summary.findings) {
    findings.push_back({{"rule", finding.rule},
                        {"severity", to_word(finding.severity)},
                        {"subject", finding.subject},
                        {"depends_on_load", finding.depends_on_load}});
  }
  OrderedJson json = {
      {"status", to_word(summary.status)}, {"confidence", summary.confidence}, {"complete", summary.is_complete}};
  // Written only where it is true, so that whole recordings keep the identifiers that they had before there was a word
  // for it.
  if (summary.is_torn) json["torn"] = true;
  json["iterators"] = std::move(iterators);
  json["pipelines"] = std::move(pipelines);
  json["findings"] = std::move(findings);
  return json;
}

// Reading. The document is foreign: every access may fail, and the first failure ends it.

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
    members.read("id", run.id);
    members.read("label", run.label);
    RunSummary& summary = run.summary;
    members.read("source", summary.source);
    members.read("tool_version", summary.tool_version);
    if (members.has("recording")) read_facts(members, summary.recording);
    members.read_word("status", kStatuses, summary.status);
    members.read("confidence", summary.confidence);
    members.read("complete", summary.is_complete);
    if (members.has("torn")) members.read("torn", summary.is_torn);
    members.read_each("iterators", [&](dom::element entry) { read_iterator(entry, summary); });
    members.read_each("pipelines", [&](dom::element entry) { read_pipeline(entry, summary); });
    members.read_each("findings", [&](dom::element entry) {
      FindingSummary& finding = summary.findings.emplace_back();
      Members parts(entry, misfit_);
      parts.read("rule", finding.rule);
      parts.read_word("severity", kSeverities, finding.severity);
      parts.read("subject", finding.subject);
      parts.read("depends_on_load", finding.depends_on_load);
    });
    return misfit_;
  }

 private:
  void read_durations(dom::element element, DurationStatistics& durations) {
    Members parts(element, misfit_);
    parts.read("count", durations.count);
    parts.read("total_ps", durations.total);
    parts.read("p25_ps", durations.p25);
    parts.read("median_ps", durations.median);
    parts.read("p90_ps", durations.p90);
    parts.read("p99_ps", durations.p99);
    parts.read("tail_ps", durations.tail);
  }

  void read_durations(Members& members, std::string_view key, DurationStatistics& durations) {
    dom::element element;
    if (members.find(key, element)) read_durations(element, durations);
  }

  void read_settings(Members& members, std::vector<SettingSummary>& settings) {
    dom::object object;
    members.read("settings", object);
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
    if (!members.find("source", element)) return;
    Members parts(element, misfit_);
    parts.read("file", source.file);
    parts.read("line", source.line);
    parts.read("code", source.code);
    parts.read("repository_file", source.repository_file);
  }

  void read_per_run(Members& members, CallsPerRun& calls) {
    dom::element element;
    if (!members.find("per_run", element)) return;
    Members parts(element, misfit_);
    parts.read("runs", calls.runs);
    parts.read("low", calls.low);
    parts.read("high", calls.high);
    parts.read("total", calls.total);
  }

  void read_facts(Members& members, RecordingFacts& facts) {
    dom::element element;
    if (!members.find("recording", element)) return;
    Members parts(element, misfit_);
    const auto read = [&](std::string_view key, auto& value) {
      if (parts.has(key)) parts.read(key, value);
    };
    read("host", facts.host);
    read("cpu", facts.cpu);
    read("cores", facts.cores);
    read("tensorflow", facts.tensorflow);
    read("process", facts.process);
    read("recorded_ns", facts.recorded_ns);
    const auto read_load = [&](std::string_view key, std::optional<double>& load) {
      if (parts.has(key)) parts.read(key, load.emplace());
    };
    read_load("other_load_before", facts.other_load.before);
    read_load("other_load_during", facts.other_load.during);
    read_load("other_load_after", facts.other_load.after);
  }

  void read_iterator(dom::element element, RunSummary& summary) {
    const std::size_t index = summary.iterators.size();
    IteratorSummary& iterator = summary.iterators.emplace_back();
    Members parts(element, misfit_);
    parts.read("long_name", iterator.long_name);
    parts.read("kind", iterator.kind);
    parts.read("words", iterator.words);
    parts.read_index("parent", index, iterator.parent);  // parents come first: so there are no circles
    parts.read("autotuned", iterator.is_autotuned);
    read_settings(parts, iterator.settings);
    parts.read("calls", iterator.calls);
    if (parts.has("element_bytes")) parts.read("element_bytes", iterator.element_bytes.emplace());
    read_durations(parts, "self", iterator.self);
    if (parts.has("user_name")) parts.read("user_name", iterator.user_name);
    if (parts.has("source")) read_source(parts, iterator.source.emplace());
    parts.read_each("function_ops", [&](dom::element entry) {
      OpSummary& op = iterator.function_ops.emplace_back();
      Members members_of_op(entry, misfit_);
      members_of_op.read("op", op.op);
      if (members_of_op.has("per_run")) read_per_run(members_of_op, op.per_run);
      read_durations(entry, op.durations);
    });
  }

  void read_pipeline(dom::element element, RunSummary& summary) {
    PipelineSummary& pipeline = summary.pipelines.emplace_back();
    Members parts(element, misfit_);
    parts.read_index("root", summary.iterators.size(), pipeline.root);
    parts.read("device", pipeline.is_device);
    parts.read("feeds_another", pipeline.feeds_another);
    parts.read("input_share", pipeline.input_share);
    read_durations(parts, "get_next", pipeline.get_next);
    read_durations(parts, "step", pipeline.step);
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

std::string identifier_of(const RunSummary& summary) {
  return fmt::format("{:016x}", fnv1a_64(dump(measured_json(summary, Extent::identity))));
}

std::string to_json(const StoredRun& run) {
  OrderedJson json = {
      {"id", run.id}, {"label", run.label}, {"source", run.summary.source}, {"tool_version", run.summary.tool_version}};
  if (run.summary.recording != RecordingFacts()) json["recording"] = facts_json(run.summary.recording);
  json.update(measured_json(run.summary, Extent::all));
  return dump(json);
}

Result<StoredRun> parse_stored_run(std::string_view json, const std::string& where) {
  dom::parser parser;
  dom::element element;
  if (parser.parse(json.data(), json.size()).get(element) != simdjson::SUCCESS) {
    return not_a_baseline(where, "a run is not JSON");
  }
  return read_run(element, where);
}

std::string to_baseline_json(const std::vector<StoredRun>& runs) {
  std::string json = fmt::format("{{\"schema\":\"{}\",\"runs\":[\n", kSchema);
  for (const StoredRun& run : runs) json += to_json(run) + (&run == &runs.back() ? "\n" : ",\n");
  return json + "]}\n";
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
  if (document["schema"].get(schema) != simdjson::SUCCESS) return not_a_baseline(where, "'schema' is missing");
  if (schema != kSchema) {
    return fail(fmt::format("is a baseline of another version, '{}'; this tool reads '{}'", schema, kSchema), where,
                "use the version of tfdata-doctor that wrote it");
  }
  dom::array array;
  if (document["runs"].get(array) != simdjson::SUCCESS) return not_a_baseline(where, "'runs' is missing");
  for (const dom::element element : array) {
    Result<StoredRun> run = read_run(element, where);
    if (!run) return Unexpected(std::move(run.error()));
    runs.push_back(std::move(*run));
  }
  return runs;
}

bool sniff_baseline_json(std::string_view head) {
  const std::size_t brace = head.find_first_not_of(" \t\r\n");
  return brace != std::string_view::npos && head[brace] == '{' &&
         head.substr(0, 1024).find(kSchemaOfAnyVersion) != std::string_view::npos;
}

}  // namespace doctor
