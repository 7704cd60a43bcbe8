// Recorded traces rewritten so that the job behind them stays the same: the diagnosis must stay the same, too.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "recorded_json.h"

namespace doctor::metamorphic_test {
namespace {

void for_each_timed_event(Json& document, const std::function<void(Json& event)>& change) {
  for (Json& event : document["traceEvents"]) {
    if (has_time(event)) change(event);
  }
}

void set_picoseconds(Json& event, const char* key, std::int64_t time) {
  if (event.contains(key)) event[key] = static_cast<double>(time) / 1e6;
}

Json shuffled(Json document, unsigned seed) {
  std::vector<Json> events = document["traceEvents"];
  std::mt19937 random(seed);
  std::shuffle(events.begin(), events.end(), random);
  document["traceEvents"] = events;
  return document;
}

Json shifted(Json document, std::int64_t picoseconds) {
  for_each_timed_event(document,
                       [&](Json& event) { set_picoseconds(event, "ts", picoseconds_of(event, "ts") + picoseconds); });
  return document;
}

Json slowed(Json document, int factor) {
  for_each_timed_event(document, [&](Json& event) {
    for (const char* key : {"ts", "dur"}) set_picoseconds(event, key, factor * picoseconds_of(event, key));
  });
  return document;
}

/// A thread's name tells the pool that it belongs to before the slash, where it is one of TF's.
std::string renamed_thread(const std::string& name) {
  static const std::regex kMeaningful("tf_data_|Eigen|tf_Compute");
  if (!std::regex_search(name, kMeaningful)) return "thread of " + std::string(name.rbegin(), name.rend());
  return name.substr(0, name.find('/')) + "/renamed";
}

/// Numbers of processes and threads, and with them their order, are others; so are the names of threads.
Json renamed_threads(Json document) {
  for (Json& event : document["traceEvents"]) {
    if (event.contains("pid")) event["pid"] = 9000 - event["pid"].get<std::int64_t>();
    if (event.contains("tid")) event["tid"] = 0xffff'ffff - event["tid"].get<std::int64_t>();
    if (event.value("name", "") == "thread_name") {
      event["args"]["name"] = renamed_thread(event["args"]["name"].get<std::string>());
    }
  }
  return document;
}

/// Zero is no id. Negative ids come back as unsigned ones, which is the same token.
std::string other_id(const std::string& id) {
  constexpr std::uint64_t kBits = 0xa5a5'0f0f'1234'5678u;
  const std::uint64_t token =
      id.starts_with('-') ? static_cast<std::uint64_t>(std::stoll(id)) : static_cast<std::uint64_t>(std::stoull(id));
  REQUIRE(token != kBits);
  return std::to_string(token == 0 ? 0 : token ^ kBits);
}

constexpr const char* kIds[] = {"id", "parent_id", "element_id"};

Json with_other_ids(Json document) {
  for_each_timed_event(document, [](Json& event) {
    if (!event.contains("args")) return;
    for (const char* key : kIds) {
      if (event["args"].contains(key)) event["args"][key] = other_id(event["args"][key].get<std::string>());
    }
  });
  return document;
}

/// A page as it must be once the ids of the document are others.
Json page_with_other_ids(Json page) {
  if (page.is_object() && page.contains("long_name")) {
    for (const char* key : kIds) {
      if (page.contains(key) && page[key].is_string()) page[key] = other_id(page[key].get<std::string>());
    }
  }
  for (Json& part : page) {
    if (part.is_structured()) part = page_with_other_ids(part);
  }
  return page;
}

bool is_time(const std::string& key, const Json& value) {
  return value.is_number() && key.ends_with("_us") && key != "threshold_us";  // a constant of the report
}

/// A page as it must be once the job takes `factor` times as long. Sentences hold times and are left out.
/// Without what a model predicts: it knows how long a thread takes to wake up, so that twice the times are not exactly
/// half the rate (model_test.cpp has the tolerance).
Json slowed_page(Json page, int factor) {
  if (page.is_object()) {
    page.erase("gain");
    page.erase("together");
    page.erase("predicted_speedup");
    page.erase("steps_per_s");
    page.erase("steps_per_s_without_input");
    page.erase("pace");  // its times are rounded to picoseconds, and one of them is predicted
    if (page.contains("name") && page["name"] == "speedup_without_input") page.erase("value");
  }
  if (page.is_object() && page.contains("unit") && page["unit"] == "us") {
    page["value"] = factor * page["value"].get<double>();
  }
  for (auto& part : page.items()) {
    static const std::set<std::string> kSentences = {"summary", "message", "text", "reason", "speed"};
    if (part.value().is_structured()) {
      part.value() = slowed_page(part.value(), factor);
    } else if (is_time(part.key(), part.value())) {
      part.value() = factor * part.value().get<double>();
    } else if (kSentences.contains(part.key())) {
      part.value() = "";
    }
  }
  return page;
}

/// Places of a page that differ, and how.
using Differences = std::map<std::string, std::string>;

/// Shares are quotients of sums whose last digits are the order of adding up, so numbers are compared to nine digits.
bool is_same_number(double left, double right) {
  return std::abs(left - right) <= 1e-9 * std::max({std::abs(left), std::abs(right), 1.0});
}

void collect_differences(const Json& left, const Json& right, const std::string& place, Differences& differences) {
  if (left.is_number() && right.is_number()) {
    if (is_same_number(left.get<double>(), right.get<double>())) return;
  } else if (left.type() == right.type() && left.is_structured() && left.size() == right.size()) {
    auto other = right.items().begin();
    for (const auto& part : left.items()) {
      if (part.key() != other.key()) differences[place] = part.key() + " != " + other.key();
      collect_differences(part.value(), other.value(), place + "/" + part.key(), differences);
      ++other;
    }
    return;
  } else if (left == right) {
    return;
  }
  differences[place] = left.dump() + " != " + right.dump();
}

Differences differences_of(const Pages& left, const Pages& right) {
  Differences differences;
  collect_differences(left.report, right.report, "report", differences);
  collect_differences(left.tree, right.tree, "tree", differences);
  return differences;
}

std::string to_text(const Differences& differences) {
  std::string text;
  for (const auto& [place, values] : differences) text += fmt::format("\n  {}: {}", place, values);
  return text;
}

void check_same(const Pages& actual, const Pages& expected) {
  const Differences differences = differences_of(actual, expected);
  CHECK_MESSAGE(differences.empty(), "pages differ:", to_text(differences));
}

const std::vector<RecordedJson>& traces() {
  static const std::vector<RecordedJson> kTraces = recorded_json("traces");
  return kTraces;
}

TEST_CASE("the order of events in a recorded trace changes nothing") {
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    const Pages expected = diagnose_document(trace.document);
    for (const unsigned seed : {1u, 2u}) check_same(diagnose_document(shuffled(trace.document, seed)), expected);
  }
}

TEST_CASE("names and numbers of threads in a recorded trace change nothing") {
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    check_same(diagnose_document(renamed_threads(trace.document)), diagnose_document(trace.document));
  }
}

TEST_CASE("when a recorded trace began changes nothing") {
  constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000'000;
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    check_same(diagnose_document(shifted(trace.document, kHour)), diagnose_document(trace.document));
  }
}

TEST_CASE("other ids in a recorded trace change only ids") {
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    Pages expected = diagnose_document(trace.document);
    expected = {page_with_other_ids(expected.report), page_with_other_ids(expected.tree)};
    check_same(diagnose_document(with_other_ids(trace.document)), expected);
  }
}

/// A recorded trace in which doubled times cross an absolute threshold, and the places of the pages that tell so.
struct Crossing {
  std::string trace;
  std::string threshold;
  std::set<std::string> places;
};

const std::vector<Crossing>& crossings() {
  static const std::string kSlowCalls = "50 us, from which a GetNext call counts as slow";
  static const std::vector<Crossing> kCrossings = {
      {"healthy_tf2.4.trace.json.gz",
       kSlowCalls,
       {"report/pipelines/0/get_next/slow_count", "tree/pipelines/0/get_next/slow_count"}},
      {"parallel_map_python_tf2.4.trace.json.gz",
       kSlowCalls,
       {"report/pipelines/0/get_next/slow_count", "tree/pipelines/0/get_next/slow_count",
        "report/findings/3/evidence/8/value"}},  // slow_calls
      {"unbatch_tf2.21.xprof.trace.json.gz",
       "what recording an event takes, which no job changes",
       {"report/pipelines/0/confidence/total", "report/pipelines/0/confidence/tracing", "report/verdict/confidence",
        "report/verdict/doubt", "tree/pipelines/0/confidence/total", "tree/pipelines/0/confidence/tracing"}},
      {"shuffle_fill_tf2.4.trace.json.gz",
       kSlowCalls,
       {"report/pipelines/0/get_next/slow_count", "tree/pipelines/0/get_next/slow_count"}},
  };
  return kCrossings;
}

TEST_CASE("a job that takes twice as long gets the same diagnosis with twice the times") {
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    const ThresholdSettings keep_all_advice = {{"input-bound", {{"min_gain", 0}}}};
    const Pages once = diagnose_document(trace.document, keep_all_advice);
    const Pages twice = diagnose_document(slowed(trace.document, 2), keep_all_advice);
    Differences differences = differences_of({slowed_page(twice.report, 1), slowed_page(twice.tree, 1)},
                                             {slowed_page(once.report, 2), slowed_page(once.tree, 2)});
    for (const Crossing& crossing : crossings()) {
      if (crossing.trace != trace.name) continue;
      for (const std::string& place : crossing.places) {
        CHECK_MESSAGE(differences.erase(place) == 1, place, " does not cross ", crossing.threshold);
      }
    }
    CHECK_MESSAGE(differences.empty(), "more than times differ:", to_text(differences));
  }
}

}  // namespace
}  // namespace doctor::metamorphic_test
