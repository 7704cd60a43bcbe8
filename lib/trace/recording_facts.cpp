#include "trace/recording_facts.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <filesystem>

#include "trace/file_beside.h"

namespace doctor {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr std::string_view kFactsFile = "recording.json";
constexpr std::string_view kRecordingSchema = "tfdata-doctor.recording/1";

// What is longer or larger is not from the programs that write it.
constexpr std::size_t kLargestFile = 64U << 10U;
constexpr std::size_t kLongestText = 200;
constexpr std::uint64_t kMostCores = 1U << 20U;

std::string text_member(const dom::object& object, std::string_view key) {
  std::string_view text;
  if (object.at_key(key).get(text) != simdjson::SUCCESS || text.size() > kLongestText) return {};
  return std::string(text);
}

std::optional<double> load_member(const dom::object& object, std::string_view key) {
  double load = 0;
  if (object.at_key(key).get(load) != simdjson::SUCCESS) return std::nullopt;
  return load >= 0 && load <= static_cast<double>(kMostCores) ? std::optional(load) : std::nullopt;
}

std::optional<double> slowdown_of(const dom::object& page) {
  constexpr double kMost = 1e3;
  dom::object rates;
  double before = 0;
  double during = 0;
  if (page.at_key("steps_per_s").get(rates) != simdjson::SUCCESS) return std::nullopt;
  if (rates.at_key("before").get(before) != simdjson::SUCCESS) return std::nullopt;
  if (rates.at_key("during").get(during) != simdjson::SUCCESS) return std::nullopt;
  if (!(before > 0 && during > 0 && before <= kMost * during)) return std::nullopt;
  return before / during;
}

bool read_window(const dom::object& facts, std::uint64_t& first, std::uint64_t& last) {
  dom::array window;
  return facts.at_key("worst").get(window) == simdjson::SUCCESS && window.size() == 2 &&
         window.at(0).get(first) == simdjson::SUCCESS && window.at(1).get(last) == simdjson::SUCCESS;
}

std::optional<WholeRun> whole_run_of(const dom::object& page) {
  dom::object facts;
  WholeRun run;
  if (page.at_key("whole_run").get(facts) != simdjson::SUCCESS) return std::nullopt;
  if (facts.at_key("steps").get(run.steps) != simdjson::SUCCESS) return std::nullopt;
  const auto share = [&](std::string_view key, double& value) {
    return facts.at_key(key).get(value) == simdjson::SUCCESS && value >= 0 && value <= 1;
  };
  if (!share("wait_share", run.wait_share) || !share("recorded_wait_share", run.recorded_wait_share)) {
    return std::nullopt;
  }
  return read_window(facts, run.worst_first, run.worst_last) ? std::optional(run) : std::nullopt;
}

std::optional<OtherSteps> other_steps_of(const dom::object& page) {
  constexpr double kMost = 1e6;
  dom::object facts;
  OtherSteps other;
  if (page.at_key("other_steps").get(facts) != simdjson::SUCCESS) return std::nullopt;
  if (facts.at_key("steps").get(other.steps) != simdjson::SUCCESS) return std::nullopt;
  if (facts.at_key("times_as_long").get(other.times_as_long) != simdjson::SUCCESS) return std::nullopt;
  if (!(other.times_as_long > 0 && other.times_as_long <= kMost)) return std::nullopt;
  return read_window(facts, other.worst_first, other.worst_last) ? std::optional(other) : std::nullopt;
}

std::optional<RecordedScript> script_of(const dom::object& page) {
  dom::object loop;
  RecordedScript script;
  if (page.at_key("loop").get(loop) != simdjson::SUCCESS) return std::nullopt;
  script.name = text_member(loop, "script");
  if (script.name.empty() || loop.at_key("first").get(script.first_step) != simdjson::SUCCESS) return std::nullopt;
  return script;
}

}  // namespace

Result<RecordingFacts> parse_recording_facts(std::string_view json) {
  dom::parser parser(kLargestFile + simdjson::SIMDJSON_PADDING);
  dom::element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document); error != simdjson::SUCCESS) {
    return fail(fmt::format("is not JSON: {}", simdjson::error_message(error)), {});
  }
  dom::object page;
  if (document.get(page) != simdjson::SUCCESS || text_member(page, "schema") != kRecordingSchema) {
    return fail(fmt::format("its schema is not '{}'", kRecordingSchema), {});
  }
  RecordingFacts facts;
  facts.host = text_member(page, "host");
  facts.cpu = text_member(page, "cpu");
  facts.tensorflow = text_member(page, "tensorflow");
  facts.process = text_member(page, "process");
  std::uint64_t cores = 0;
  if (page.at_key("cores").get(cores) == simdjson::SUCCESS && cores <= kMostCores) facts.cores = cores;
  dom::object load;
  if (page.at_key("other_load").get(load) == simdjson::SUCCESS) {
    facts.other_load = {load_member(load, "before"), load_member(load, "during"), load_member(load, "after")};
  }
  facts.slowdown = slowdown_of(page);
  facts.whole_run = whole_run_of(page);
  facts.other_steps = other_steps_of(page);
  facts.script = script_of(page);
  return facts;
}

std::string recording_facts_path(const std::string& trace) {
  return (fs::path(trace).parent_path() / kFactsFile).string();
}

RecordingFacts recording_facts_beside(const std::string& trace) {
  const auto read = file_beside(trace, recording_facts_path(trace), kLargestFile, parse_recording_facts);
  return read ? read->value_or(RecordingFacts()) : RecordingFacts();
}

}  // namespace doctor
