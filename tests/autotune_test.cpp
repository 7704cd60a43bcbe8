// `show autotune`: histories of attributes in order of time, what binds, and the pages.

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <set>

#include "autotune_readings.h"
#include "built_paths.h"
#include "diagnose/judgement.h"
#include "diagnose/tuning.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::autotune_test {
namespace {

const IteratorMeasurement& iterator_of(const Analysis& analysis, std::string_view long_name) {
  for (const IteratorMeasurement& iterator : analysis.measurements.hosts[0].iterators) {
    if (iterator.long_name == long_name) return iterator;
  }
  throw std::runtime_error("no iterator " + std::string(long_name));
}

std::string to_text(const AttributeReading& reading) {
  return reading.number ? std::to_string(*reading.number) : "'" + reading.text + "'";
}

/// "4 events, 1 unavailable, 1..8, 1 @20 4 @30 8": the first value, then the changes with their times in us.
std::string history_text(const Analysis& analysis, std::string_view long_name, std::string_view attribute) {
  for (const AttributeHistory& history : iterator_of(analysis, long_name).history.attributes) {
    if (history.name != attribute) continue;
    std::string text = fmt::format("{} events, {} unavailable, ", history.event_count, history.unavailable_count);
    if (history.number_count > 0) text += fmt::format("{}..{}, ", history.min, history.max);
    text += to_text(history.first);
    for (const AttributeChange& change : history.changes) {
      const Picoseconds since = change.time - analysis.measurements.hosts[0].window_start;
      text += fmt::format(" @{} {}", since / kPicosecondsPerMicrosecond, to_text(change.value));
    }
    CHECK(history.change_count == history.changes.size());
    const AttributeReading& last = history.changes.empty() ? history.first : history.changes.back().value;
    CHECK(history.last == last);
    return text;
  }
  return "none";
}

std::string fill_text(const Analysis& analysis, std::string_view long_name) {
  const std::optional<BufferFill>& fill = iterator_of(analysis, long_name).history.fill;
  if (!fill) return "none";
  return fmt::format("{} calls, {} empty, {} full, {}/{:.2f}/{}", fill->calls, fill->empty_calls, fill->full_calls,
                     fill->min, fill->mean, fill->max);
}

/// A host of a chain of stages with 100 calls each, for the rules of what binds.
const ThresholdValues kDefaults(judgement_thresholds(), {});

class Tuned : public MeasuredPipeline {
 public:
  using MeasuredPipeline::MeasuredPipeline;

  Tuned& says(std::string_view stage, const std::string& name, std::int64_t number) {
    (*this)[stage].attributes.push_back({name, number, ""});
    return *this;
  }
  Tuned& says(std::string_view stage, const std::string& name, const std::string& text) {
    (*this)[stage].attributes.push_back({name, std::nullopt, text});
    return *this;
  }
  Tuned& was_filled(std::string_view stage, std::uint64_t empty_calls, std::uint64_t full_calls) {
    (*this)[stage].history.fill = BufferFill{100, empty_calls, full_calls, 0, 4, 2};
    return *this;
  }
  Binding binding(std::string_view stage, const ThresholdValues& thresholds = kDefaults) {
    return autotune_stage(host(), &pipeline(), id_of(stage), thresholds).binding;
  }
};

TEST_CASE("values are put in order of time, whatever thread their events are of") {
  for (const std::string& bytes : {two_threads().to_xspace(), two_threads().to_chrome_json()}) {
    const Analysis analysis = analyze_bytes(bytes);
    CHECK(history_text(analysis, kMap, "parallelism") == "6 events, 0 unavailable, 1..4, 1 @210 2 @410 4");
    CHECK(history_text(analysis, kMap, "deterministic") == "6 events, 0 unavailable, 'true' @310 'false' @410 'true'");
    CHECK(history_text(analysis, kPrefetch, "buffer_limit") == "6 events, 0 unavailable, 2..2, 2");
    CHECK(iterator_of(analysis, kMap).history.attributes[1].mean == doctest::Approx(14.0 / 6));
  }
}

TEST_CASE("a value that comes back on another thread is a change") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  for (int call = 0; call < 4; ++call) {
    trace.iterator("a", kMap, 3, 2, 100.0 * call, 20).numbers["parallelism"] = 1;
  }
  trace.iterator("b", kMap, 3, 2, 150, 20).numbers["parallelism"] = 2;
  CHECK(history_text(analyze_bytes(trace.to_xspace()), kMap, "parallelism") ==
        "5 events, 0 unavailable, 1..2, 1 @150 2 @200 1");
}

TEST_CASE("events of a thread that are out of order are put in order") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  for (const int call : {3, 0, 2, 1}) {
    trace.iterator("a", kMap, 3, 2, 100.0 * call, 20).numbers["parallelism"] = call < 2 ? 1 : 2;
  }
  for (const std::string& bytes : {trace.to_xspace(), trace.to_chrome_json()}) {
    CHECK(history_text(analyze_bytes(bytes), kMap, "parallelism") == "4 events, 0 unavailable, 1..2, 1 @200 2");
  }
}

TEST_CASE("where the runtime could not look nothing has changed") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  for (int call = 0; call < 4; ++call) {
    auto& map = trace.iterator("a", kMap, 3, 2, 100.0 * call, 20);
    if (call % 2 == 0) map.numbers["parallelism"] = 4;
    if (call % 2 == 1) map.texts["parallelism"] = "unavailable";
  }
  const Analysis analysis = analyze_bytes(trace.to_xspace());
  CHECK(history_text(analysis, kMap, "parallelism") == "2 events, 2 unavailable, 4..4, 4");
  CHECK_FALSE(iterator_of(analysis, kMap).number("parallelism").has_value());
  CHECK(last_number(iterator_of(analysis, kMap), "parallelism") == 4);
}

TEST_CASE("how full a buffer was: left out is zero where the runtime leaves zeros out") {
  for (const std::string& bytes : {two_threads().to_xspace(), two_threads().to_chrome_json()}) {
    const Analysis analysis = analyze_bytes(bytes);
    CHECK(fill_text(analysis, kPrefetch) == "6 calls, 4 empty, 2 full, 0/0.67/2");
    CHECK(history_text(analysis, kPrefetch, "buffered_elements") == "6 events, 0 unavailable, 0..2, 0 @400 2");
    CHECK(fill_text(analysis, kMap) == "none");
  }
  const auto prefetch = [](const std::map<std::string, std::int64_t>& numbers, const std::string& size = "") {
    SyntheticTrace trace;
    auto& event = trace.iterator("main", kPrefetch, 2, 0, 0, 80);
    event.numbers = numbers;
    if (!size.empty()) event.texts["buffer_size"] = size;
    return fill_text(analyze_bytes(trace.to_xspace()), kPrefetch);
  };
  CHECK(prefetch({{"buffer_limit", 2}, {"interleave_depth", 0}}) == "1 calls, 1 empty, 0 full, 0/0.00/0");
  CHECK(prefetch({{"buffer_limit", 2}}) == "none");  // TF 2.4 wrote no more than this
  CHECK(prefetch({{"buffer_limit", 2}, {"buffer_size", 1}}) == "1 calls, 0 empty, 0 full, 1/1.00/1");
  CHECK(prefetch({{"buffer_limit", 2}, {"interleave_depth", 0}}, "unavailable") == "none");
}

TEST_CASE("a long history is thinned out, its changes are all counted") {
  SyntheticTrace trace;
  constexpr int kCalls = 2'000;
  for (int call = 0; call < kCalls; ++call) {
    trace.iterator("main", kMap, 3, 0, 10.0 * call, 5).numbers["parallelism"] = call;
  }
  const Analysis analysis = analyze_bytes(trace.to_xspace());
  const AttributeHistory& history = iterator_of(analysis, kMap).history.attributes[0];
  CHECK(history.change_count == kCalls - 1);
  CHECK(history.changes.size() <= AttributeHistory::kMostChanges);
  CHECK(history.changes.size() > AttributeHistory::kMostChanges / 2 - 1);
  CHECK(history.first.number == 0);
  CHECK(history.last.number == kCalls - 1);
  REQUIRE(history.changes.size() > 2);
  CHECK(history.changes[0].value.number == 1);
  for (std::size_t index = 1; index < history.changes.size(); ++index) {
    CHECK(*history.changes[index].value.number - *history.changes[index - 1].value.number == 8);
  }
}

TEST_CASE("a diagnosis reads no histories, and only the last values change no answer") {
  const Analysis analysis = analyze_bytes(two_threads().to_xspace(), false);
  CHECK(iterator_of(analysis, kMap).history.attributes.empty());
  CHECK_FALSE(iterator_of(analysis, kPrefetch).history.fill.has_value());
  CHECK(last_number(iterator_of(analysis, kMap), "parallelism") == 4);
  const HostMeasurement& host = analysis.measurements.hosts[0];
  const AutotuneStage stage = autotune_stage(host, &host.pipelines[0], host.pipelines[0].prefetch, kDefaults);
  CHECK(stage.buffer_limit == 2);
  CHECK(stage.binding == Binding::unknown);
}

TEST_CASE("ranges of numbers are those of their histories, whatever the format and the pieces of the file") {
  constexpr std::array<std::string_view, 2> kRanged = {"parallelism", "buffered_elements"};
  SyntheticTrace trace = two_threads();
  trace.iterator("a", kMap, 3, 2, 700, 20).numbers["parallelism"] = 3;
  trace.iterator("b", kMap, 3, 2, 800, 20).texts = {{"parallelism", "unavailable"}, {"shapes", "[?,2]"}};
  for (const std::string& bytes : {trace.to_xspace(), trace.to_chrome_json()}) {
    for (const std::size_t window : {std::size_t{64}, std::size_t{128} << 10}) {
      const TemporaryDirectory folder;
      const std::vector<std::string> files = {folder.write("host", bytes)};
      TraceNeeds options;
      options = {.ranges_of = kRanged, .element_types = true};
      const Analysis analysis = diagnose_files(files, {.work = {.window_size = window}, .needs = options});
      const IteratorMeasurement& map = iterator_of(analysis, kMap);
      CHECK(map.find("parallelism")->range == NumberRange{1, 4});
      CHECK(map.text("parallelism") == "unavailable");
      CHECK_FALSE(map.find("deterministic")->range.is_known());
      CHECK(map.element_shapes == "[?,2]");
      CHECK(map.find("shapes") == nullptr);
      const IteratorMeasurement& prefetch = iterator_of(analysis, kPrefetch);
      CHECK(prefetch.find("buffered_elements")->range == NumberRange{2, 2});
      CHECK_FALSE(prefetch.find("buffer_limit")->range.is_known());
    }
  }
  const Analysis with_history = analyze_bytes(trace.to_xspace());
  CHECK_FALSE(iterator_of(with_history, kMap).find("parallelism")->range.is_known());
  CHECK(history_text(with_history, kMap, "parallelism").starts_with("7 events, 1 unavailable, 1..4"));
  CHECK(iterator_of(with_history, kMap).element_shapes.empty());
}

TEST_CASE("a file that is too large for histories says so in the document of a page") {
  const std::vector<std::string> files = {source_dir() + "/testdata/traces/guide_naive.xplane.pb"};
  TraceNeeds options;
  options.attribute_history = true;
  const auto document = [&](std::uint64_t limit) {
    options.largest_with_history = limit;
    const Analysis analysis = diagnose_files(files, {.needs = options});
    return page_document(kAutotunePage, analysis);
  };
  CHECK(document(1'000)["history_limit_bytes"] == 1'000);
  CHECK_FALSE(document(1'000'000'000).contains("history_limit_bytes"));
  options.attribute_history = false;  // nobody asked for them
  CHECK_FALSE(document(1'000).contains("history_limit_bytes"));
}

TEST_CASE("neither threads nor windows change the page") {
  const fs::path trace = fs::path(source_dir()) / "testdata/traces/parallel_map_all_cores_tf2.21.xplane.pb";
  std::set<std::string> pages;
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const std::size_t window : {std::size_t{4} << 10, std::size_t{128} << 10}) {
      TraceNeeds options;
      options.attribute_history = true;
      const Analysis analysis = diagnose_files(std::vector<std::string>{trace.string()},
                                               {.work = {.threads = threads, .window_size = window}, .needs = options});
      pages.insert(doctor::to_text(page_document(kAutotunePage, analysis)));
    }
  }
  CHECK(pages.size() == 1);
}

TEST_CASE("a prefetch binds by how full it was") {
  const auto binding = [](std::uint64_t empty, std::uint64_t full, const std::string& threshold = "often",
                          double value = 0.2) {
    return Tuned({"Root", "Prefetch", "Map"})
        .says("Prefetch", "buffer_limit", 4)
        .was_filled("Prefetch", empty, full)
        .binding("Prefetch", ThresholdValues(judgement_thresholds(), {{threshold, value}}));
  };
  CHECK(binding(93, 0) == Binding::empty_buffer);
  CHECK(binding(50, 0) == Binding::empty_buffer);
  CHECK(binding(49, 0) == Binding::nothing);
  CHECK(binding(0, 50) == Binding::full_buffer);
  CHECK(binding(0, 49) == Binding::nothing);
  CHECK(binding(60, 20) == Binding::bursts);
  CHECK(binding(60, 19) == Binding::empty_buffer);
  CHECK(binding(60, 19, "often", 0.1) == Binding::bursts);
  CHECK(binding(60, 0, "mostly", 0.7) == Binding::nothing);
  CHECK(Tuned({"Root", "Prefetch", "Map"}).says("Prefetch", "buffer_limit", 4).binding("Prefetch") == Binding::unknown);
}

TEST_CASE("a parallelism binds at the CPU budget, at its cycle, or where it is fixed too low") {
  const auto pipeline = [](std::int64_t parallelism, const std::string& autotune, std::int64_t cores) {
    Tuned made({"Root", "ParallelMapV2", "Range"});
    made.says("ParallelMapV2", "autotune", autotune).says("ParallelMapV2", "parallelism", parallelism);
    made.waits_for("ParallelMapV2").uses_cores(1, cores);
    return made;
  };
  CHECK(pipeline(2, "true", 2).binding("ParallelMapV2") == Binding::cpu_budget);
  CHECK(pipeline(16, "false", 2).binding("ParallelMapV2") == Binding::cpu_budget);
  CHECK(pipeline(2, "true", 8).binding("ParallelMapV2") == Binding::nothing);
  CHECK(pipeline(4, "false", 8).binding("ParallelMapV2") == Binding::fixed_parallelism);
  CHECK(pipeline(5, "false", 8).binding("ParallelMapV2") == Binding::nothing);
  Tuned other = pipeline(4, "false", 8);
  other.waits_for("Range");
  CHECK(other.binding("ParallelMapV2") == Binding::nothing);
  Tuned healthy = pipeline(4, "false", 8);
  healthy.waits_for("ParallelMapV2", 0.9, 0.01);
  CHECK(healthy.binding("ParallelMapV2") == Binding::nothing);
  Tuned unknown = pipeline(4, "false", 8);
  unknown.pipeline().cpu_budget.reset();
  CHECK(unknown.binding("ParallelMapV2") == Binding::unknown);
  CHECK(Tuned({"Root", "ParallelMapV2"}).says("ParallelMapV2", "parallelism", "unavailable").binding("ParallelMapV2") ==
        Binding::unknown);
  Tuned interleave({"Root", "ParallelInterleaveV4"});
  interleave.says("ParallelInterleaveV4", "parallelism", 4).says("ParallelInterleaveV4", "cycle_length", 4);
  CHECK(interleave.uses_cores(1, 8).pipeline().cpu_budget == 8);
  CHECK(interleave.binding("ParallelInterleaveV4") == Binding::cycle_length);
}

TEST_CASE("budgets are those of the root; memory in use is the machine's") {
  Tuned made({"Root", "Prefetch"});
  made.says("Root", "cpu_budget", 2).says("Root", "threadpool_size", 3).says("Root", "algorithm", "DEFAULT");
  made.says("Root", "ram_budget_megabytes", 1000).says("Root", "ram_usage_megabytes", "23000 out of 25276 (91.00%)");
  made.says("Prefetch", "buffered_bytes_MB", 800);
  const auto budget_of = [](Tuned& tuned, const ThresholdValues& thresholds = kDefaults) {
    return autotune_budget(
        tuned.host(),
        tuned.pipeline().members.empty() ? std::vector{IteratorId{0}, IteratorId{1}} : tuned.pipeline().members,
        &tuned.pipeline(), thresholds);
  };
  const AutotuneBudget budget = budget_of(made);
  CHECK(budget.cpu_cores == 2);
  CHECK(budget.threadpool_size == 3);
  CHECK(budget.algorithm == "DEFAULT");
  CHECK(budget.machine_used_mb == 23000);
  CHECK(budget.machine_ram_mb == 25276);
  CHECK(budget.is_machine_nearly_full);
  CHECK_FALSE(budget.is_budget_nearly_used);
  const ThresholdValues moved(judgement_thresholds(), {{"memory_full", 0.95}, {"ram_budget_used", 0.8}});
  CHECK_FALSE(budget_of(made, moved).is_machine_nearly_full);
  CHECK(budget_of(made, moved).is_budget_nearly_used);
  for (const std::string text : {"", "12", "x out of 3", "5 out of", "5 of 7"}) {
    Tuned damaged({"Root", "Prefetch"});
    damaged.says("Root", "cpu_budget", 2).says("Root", "ram_usage_megabytes", text);
    CHECK_FALSE(budget_of(damaged).machine_ram_mb.has_value());
    CHECK_FALSE(budget_of(damaged).is_machine_nearly_full);
  }
  Tuned silent({"Root", "Prefetch"});
  CHECK(budget_of(silent).root == kNoIterator);
}

}  // namespace
}  // namespace doctor::autotune_test
