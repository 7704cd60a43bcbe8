#include "trace/recording_facts.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <cmath>

#include "base/parse.h"
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

namespace fs = std::filesystem;

constexpr std::string_view kSamplesFile = "memory.csv";
constexpr std::string_view kSampleColumns = "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores";
constexpr std::size_t kSampleColumnCount = 6;

// What is more is not from a machine of today.
constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{1} << 50U;
constexpr std::uint64_t kLastSampledStep = std::uint64_t{1} << 50U;
constexpr double kMostOtherCores = 1U << 20U;

using Words = std::array<std::string_view, kSampleColumnCount>;

std::optional<Words> words_of(std::string_view line) {
  Words words;
  for (std::size_t column = 0; column + 1 < kSampleColumnCount; ++column) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    words[column] = line.substr(0, comma);
    line.remove_prefix(comma + 1);
  }
  words.back() = line;
  return words;
}

template <typename Number>
std::optional<Number> number_in(std::string_view word, Number most) {
  const std::optional<Number> number = parse_whole<Number>(word);
  return number && *number >= Number{} && *number <= most ? number : std::nullopt;
}

std::optional<MemorySample> sample_of(std::string_view line) {
  const std::optional<Words> words = words_of(line);
  if (!words) return std::nullopt;
  const auto time = number_in<std::int64_t>((*words)[0], INT64_MAX);
  const auto step = number_in((*words)[1], kLastSampledStep);
  const auto rss = number_in((*words)[2], kMostMemoryBytes);
  const auto available = number_in((*words)[3], kMostMemoryBytes);
  const auto total = number_in((*words)[4], kMostMemoryBytes);
  const std::optional<double> cores = number_in((*words)[5], kMostOtherCores);
  if (!time || !step || !rss || !available || !total || (!cores && !(*words)[5].empty())) return std::nullopt;
  return MemorySample{*time, *step, *rss, *available, *total, cores};
}

std::string_view take_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
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

Result<MemorySamples> parse_memory_samples(std::string_view csv) {
  if (take_line(csv) != kSampleColumns) return fail(fmt::format("does not begin with '{}'", kSampleColumns), {});
  MemorySamples read;
  while (!csv.empty()) {
    const std::optional<MemorySample> sample = sample_of(take_line(csv));
    const bool is_next = sample && (read.samples.empty() || (read.samples.back().time_ns <= sample->time_ns &&
                                                             read.samples.back().step <= sample->step));
    if (is_next && read.samples.size() < kMostMemorySamples) {
      read.samples.push_back(*sample);
    } else {
      ++read.unusable;
    }
  }
  return read;
}

std::string memory_samples_path(const std::string& trace) {
  return (fs::path(trace).parent_path() / kSamplesFile).string();
}

MemorySamples memory_samples_beside(const std::string& trace) {
  return contents_beside(trace, memory_samples_path(trace), kLargestMemoryFile, parse_memory_samples);
}

}  // namespace doctor
