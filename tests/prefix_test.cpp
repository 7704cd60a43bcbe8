// Recorded traces as they would be had the profiler been stopped earlier: what is left may be too little for a verdict,
// never the ground for a sure and different one. No exception is listed: while a shuffle buffer is filled no call of
// the consumer has ended yet, so that trace abstains until the end; traces whose cache is being filled are not recorded
// as JSON here.

#include <doctest/doctest.h>

#include <map>
#include <regex>

#include "recorded_json.h"

namespace doctor::prefix_test {
namespace {

constexpr int kParts[] = {10, 25, 50, 75, 100};  // per cent of the window
constexpr double kSure = 0.7;

/// The events that ended in the first `per_cent` of the window, and all metadata.
Json prefix_of(const Json& document, int per_cent) {
  std::int64_t start = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (const Json& event : document["traceEvents"]) {
    if (!has_time(event)) continue;
    start = std::min(start, picoseconds_of(event, "ts"));
    end = std::max(end, end_of(event));
  }
  const std::int64_t limit = start + (end - start) * per_cent / 100;
  Json prefix = document;
  prefix["traceEvents"] = Json::array();
  for (const Json& event : document["traceEvents"]) {
    if (!has_time(event) || end_of(event) <= limit) prefix["traceEvents"].push_back(event);
  }
  return prefix;
}

struct Answer {
  std::string status;
  std::string culprit;  ///< of a job that waits, without element indices
  double confidence = 0;
};

Answer answer_of(const Json& document) {
  const Json verdict = diagnose_document(document).report["verdict"];
  Answer answer{verdict["status"], {}, verdict["confidence"]};
  if (answer.status == "input_bound" && !verdict["culprit"].is_null()) {
    static const std::regex kElementIndex("\\[[0-9]+\\]");
    answer.culprit = std::regex_replace(verdict["culprit"]["long_name"].get<std::string>(), kElementIndex, "");
  }
  return answer;
}

std::vector<RecordedJson> all_traces() {
  std::vector<RecordedJson> traces = recorded_json("traces");
  for (RecordedJson& trace : recorded_json("formats")) traces.push_back(std::move(trace));
  return traces;
}

/// Answers to the parts of all traces, each indexed as kParts.
const std::map<std::string, std::vector<Answer>>& answers() {
  static const std::map<std::string, std::vector<Answer>> kAnswers = [] {
    std::map<std::string, std::vector<Answer>> answers;
    for (const RecordedJson& trace : all_traces()) {
      for (const int part : kParts) answers[trace.name].push_back(answer_of(prefix_of(trace.document, part)));
    }
    return answers;
  }();
  return kAnswers;
}

bool abstains(const Answer& answer) {
  return answer.status == "inconclusive" || answer.status == "no_input_pipeline";
}

TEST_CASE("the first part of a recorded trace is diagnosed as the whole, or not surely") {
  for (const auto& entry : answers()) {
    const std::vector<Answer>& parts = entry.second;
    const Answer& whole = parts.back();
    for (std::size_t index = 0; index < parts.size(); ++index) {
      const Answer& part = parts[index];
      CAPTURE(entry.first);
      CAPTURE(kParts[index]);
      const bool is_same = part.status == whole.status && part.culprit == whole.culprit;
      CHECK_MESSAGE((is_same || abstains(part) || part.confidence < kSure), part.status, " ", part.culprit,
                    " for sure (", part.confidence, "), the whole trace is ", whole.status, " ", whole.culprit);
    }
  }
}

TEST_CASE("the more of the recorded traces is seen, the higher is the mean confidence") {
  double before = 0;
  for (std::size_t index = 0; index < std::size(kParts); ++index) {
    double sum = 0;
    for (const auto& entry : answers()) sum += entry.second[index].confidence;
    const double mean = sum / static_cast<double>(answers().size());
    CAPTURE(kParts[index]);
    CHECK(mean >= before);
    before = mean;
  }
}

}  // namespace
}  // namespace doctor::prefix_test
