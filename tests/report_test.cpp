// The pages over measurements made by hand: what is said in which order, and the keys of the JSON report.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "report/rule_pages.h"
#include "report/selection.h"
#include "reported_case.h"
#include "shown_page.h"
#include "text/text_page.h"

namespace doctor::report_test {
namespace {

/// No file had an event of tf.data.
Case empty_case(VerdictStatus status, std::uint64_t events) {
  Case made;
  made.measurements.hosts.resize(1);
  made.measurements.hosts.front().event_count = events;
  made.diagnosis.judgement.status = status;
  return made;
}

std::string line(const std::string& text, std::size_t number) {
  std::size_t begin = 0;
  for (; number > 0 && begin != std::string::npos; --number) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Lines that were wrapped, in one piece.
std::string without_breaks(const std::string& text) {
  std::string joined;
  for (const char byte : text) {
    const bool is_space = byte == ' ' || byte == '\n';
    if (!is_space || joined.empty() || joined.back() != ' ') joined += is_space ? ' ' : byte;
  }
  return joined;
}

TEST_CASE("the text says verdict, cause and fix, and the command to run next") {
  const std::string text = text_of(input_bound_case());
  CHECK(line(text, 0) == "INPUT-BOUND: training waits for data 90% of the time");
  CHECK(line(text, 1).empty());
  CHECK(line(text, 2).starts_with("  Cause   "));
  CHECK(holds(text, "95% of the waiting. All 2 cores are busy\n"));
  CHECK(holds(text, "its time: MatMul 600 ms, ParseExample 150 ms\n"));
  CHECK(holds(text, "\n  Fix 1   Run it in parallel"));
  CHECK(holds(text, "[sequential-map]\n            .map(f, num_parallel_calls=tf.data.AUTOTUNE)\n"));
  CHECK(holds(text, "\n  Next    tfdata-doctor whatif TRACE\n"));
  for (const char* word : {"Where", "Cores", "the buffer is filled once", "show tree", "\x1b", "Lost"}) {
    CAPTURE(word);
    CHECK_FALSE(holds(text, word));
  }
}

TEST_CASE("fixes come in the one order, alternatives are counted, and hints only where there is no fix") {
  Case shown = input_bound_case();
  Finding worse;
  worse.rule = "missing-prefetch";
  worse.subject = "Iterator::Root";
  worse.advice = {{"Read why", std::nullopt}, {"Prefetch", ".prefetch(1)"}};
  Finding hint;
  hint.rule = "input-bound";
  hint.advice = {{"Begin with Map", std::nullopt}};
  shown.diagnosis.findings.insert(shown.diagnosis.findings.begin(), {hint, worse, worse});
  shown.diagnosis.changes = {{3, 0, {}, {}}, {1, 1, {}, {}}, {2, 1, 1, {}}};
  CHECK(holds(text_of(shown), "  Fix 1   Run it in parallel"));
  CHECK(holds(text_of(shown), "  Also    2 more fixes: -v\n"));
  const std::string full = text_of(shown, {.detail = Detail::full});
  CHECK(holds(full, "  Fix 2   Prefetch "));
  CHECK(holds(full, "  Fix 3   Instead of fix 2: Prefetch "));
  shown.diagnosis.findings[3].suppressed.emplace();
  CHECK(holds(text_of(shown), "  Fix 1   Prefetch "));
  shown.diagnosis.findings = {hint};
  shown.diagnosis.changes.clear();
  CHECK(holds(text_of(shown), "  Fix 1   Begin with Map "));
}

TEST_CASE("the terminal's width breaks lines, and changes no word") {
  const Case shown = input_bound_case();
  const std::string usual = text_of(shown, {.width = 80});
  for (const std::size_t width : {40u, 60u, 110u, 160u}) {
    CAPTURE(width);
    CHECK(without_breaks(text_of(shown, {.width = width})) == without_breaks(usual));
  }
}

TEST_CASE("quiet is one line, verbose shows the evidence") {
  TextStyle style;
  style.detail = Detail::verdict;
  const std::string quiet = text_of(input_bound_case(), style);
  CHECK(quiet == line(quiet, 0) + "\n");
  style.detail = Detail::full;
  const std::string full = text_of(input_bound_case(), style);
  CHECK(holds(full, "function time: 750 ms"));
  CHECK(holds(full, "no queue delay: low-parallelism"));
  CHECK(holds(full, "Run it in parallel"));
  CHECK(holds(full, "  Where   Root > Zip > [Map, parallelism 1]\n"));
  CHECK(holds(full, "tfdata-doctor whatif TRACE\n"));
}

TEST_CASE("how the cause runs is told with it, and a limit of the machine after it") {
  Case shown = input_bound_case();
  CHECK(holds(text_of(shown), "of the waiting. All 2 cores are busy"));
  PipelineJudgement& judged = shown.diagnosis.judgement.pipelines[0];
  judged.limit = {Limit::thread, judged.culprit, 1};
  CHECK(holds(text_of(shown), ", one element at a time: 95% of the waiting\n"));
  judged.limit = {Limit::thread, IteratorId{1}, 1};
  CHECK_FALSE(holds(text_of(shown), "one element at a time"));
}

TEST_CASE("colours only where they are wanted") {
  TextStyle style;
  style.color = true;
  Case shown = input_bound_case();
  Gain& gain = shown.diagnosis.findings[0].advice[0].gain.emplace();
  gain.now = gain.then.low = gain.then.high = 10;
  gain.then.estimate = 20;
  const std::string text = text_of(shown, style);
  CHECK(text.starts_with("\x1b[1;31mINPUT-BOUND\x1b[0m: "));
  CHECK(holds(text, "\x1b[36m.map(f, num_parallel_calls=tf.data.AUTOTUNE)\x1b[0m\n"));
  CHECK(holds(text, "10 -> \x1b[1;32m20 steps/s\x1b[0m, 2.0x (1.00x to 1.00x)"));
}

TEST_CASE("names in the trace cannot write lines of the text") {
  Case hostile = input_bound_case();
  hostile.measurements.hosts[0].iterators[2].short_name = "Map\x1b]0;owned\x07\n::error::x";
  hostile.diagnosis.findings[0].message = "a\nb";
  hostile.diagnosis.findings[0].advice.front().code = "x\x1b[2J";
  hostile.diagnosis.findings[1].message = "\x1b[2Jnote";
  TextStyle style;
  style.rerun = {"x\n\x1b[31m"};
  style.detail = Detail::full;
  for (const std::string& text : {text_of(hostile, style), page_text(kTreePage, hostile)}) {
    CHECK_FALSE(holds(text, "\x1b"));
    CHECK_FALSE(holds(text, "\x07"));
    CHECK_FALSE(holds(text, "\n::error"));
  }
}

TEST_CASE("a long text is wrapped beside its label") {
  TextPage page(false);
  std::string words;
  for (int word = 0; word < 40; ++word) words += "word ";
  page.row("note", words);
  const std::string text = page.take();
  CHECK(line(text, 0).size() <= 80);
  CHECK(line(text, 1).starts_with("            word"));
}

TEST_CASE("one empty line stands between two parts, whether there is a third between them or not") {
  TextPage page(false);
  page.row("Cause", "x");
  page.empty_line();
  page.empty_line();
  page.row("Next", "y");
  CHECK(page.take().find("x\n\n  Next") != std::string::npos);
}

TEST_CASE("the report says that nothing could be judged, and why") {
  CHECK(line(text_of(empty_case(VerdictStatus::no_input_pipeline, 1'200)), 0) ==
        "NO INPUT PIPELINE: none of the 1,200 events is from tf.data");
  CHECK(line(text_of(empty_case(VerdictStatus::inconclusive, 0)), 0) == "INCONCLUSIVE: no timed event could be read");
  Case without_calls = empty_case(VerdictStatus::inconclusive, 10);
  without_calls.measurements.hosts.front().iterators = host_with_pipeline().iterators;
  CHECK(holds(line(text_of(without_calls), 0), "nothing that takes its elements"));
  const Json verdict = json_of(without_calls)["verdict"];
  CHECK(verdict["status"] == "inconclusive");
  CHECK(verdict["input_share"].is_null());
  CHECK(verdict["culprit"].is_null());
}

TEST_CASE("losses are shown and summed over the files") {
  Case damaged = input_bound_case();
  damaged.measurements.hosts.push_back({});
  damaged.measurements.hosts[1].files = {{"gone.xplane.pb", "", 0}};
  damaged.measurements.hosts[0].loss.add("events_without_duration", 1'000);
  damaged.measurements.hosts[1].loss.add("events_without_duration", 200);
  damaged.measurements.hosts[1].loss.add("files_unreadable");
  CHECK(holds(text_of(damaged), "Lost    events_without_duration 1,200, files_unreadable 1;"));
  const Json loss = json_of(damaged)["trace"]["loss"];
  CHECK(loss["complete"] == false);
  CHECK(loss["events_without_duration"] == 1'200);
  CHECK(loss["files_unreadable"] == 1);
  CHECK(json_of(damaged)["trace"]["files"][1]["format"].is_null());
}

TEST_CASE("what a function's time was but its ops is said, with what ran meanwhile") {
  Case shown = input_bound_case();
  PhaseMeasurement& phase = shown.measurements.hosts[0].pipelines[0].steady;
  const auto in_it = [&] {
    TextStyle style;
    style.detail = Detail::full;
    const std::string text = text_of(shown, style);
    return without_breaks(text.substr(text.find("  Ops ")));
  };
  phase.queued_closures.reset();
  phase.function_idle = 20 * kMs;  // next to nothing
  CHECK_FALSE(holds(in_it(), "no op of it ran"));
  phase.function_idle = 150 * kMs;
  CHECK(holds(in_it(), "; 150 ms is call overhead, or ops too short to be recorded"));
  phase.beside = {{IteratorId{1}, "DecodeJpeg", 90 * kMs}, {kNoIterator, "MatMul", 30 * kMs}};
  CHECK(holds(in_it(), "; no op of it ran for 150 ms, while DecodeJpeg of tf.data.Dataset.range ran, for 90.0 ms"));
  phase.queued_closures = 2;
  CHECK(holds(in_it(), "150 ms: its calls waited for a thread, meanwhile DecodeJpeg of tf.data.Dataset.range ran"));
  shown.measurements.hosts[0].iterators[1].parent = IteratorId{2};
  CHECK(holds(in_it(), "DecodeJpeg of tf.data.Dataset.range below it ran"));
  phase.beside = {{kNoIterator, "MatMul", 30 * kMs}};
  CHECK(holds(in_it(), "meanwhile MatMul ran elsewhere, for 30.0 ms"));
}

TEST_CASE("a healthy report points to what takes the time instead") {
  Case shown = input_bound_case();
  PipelineMeasurement& pipeline = shown.measurements.hosts[0].pipelines[0];
  shown.diagnosis.findings.clear();
  shown.diagnosis.changes.clear();
  shown.diagnosis.judgement.status = VerdictStatus::healthy;
  shown.diagnosis.judgement.pipelines[0].level = InputLevel::not_bound;
  pipeline.cadence.share = pipeline.trimmed_cadence.share = 0.01;
  TextStyle style;
  style.rerun = {"TRACE"};
  const std::string text = text_of(shown, style);
  CHECK(holds(text, "tfdata-doctor show overview TRACE"));
}

TEST_CASE("the tree shows every iterator, also those that nobody called") {
  Case shown = input_bound_case();
  HostMeasurement& host = shown.measurements.hosts[0];
  host.iterators.push_back(iterator("Iterator::Other", "Other", 0, kNoIterator));
  host.iterators[3].is_async = true;
  const std::string text = page_text(kTreePage, shown);
  CHECK(holds(text, "pipeline 0:0 (host) on worker-0: 800 ms in GetNext, 89% of the window (8 calls"));
  CHECK(holds(text, "\n  Zip ~ "));
  CHECK(holds(text, "\n    Map <-- "));
  CHECK(holds(text, "95%"));
  CHECK(holds(text, "deterministic=true parallelism=1 (MapDataset:3)"));
  CHECK(holds(text, "no call of a consumer was seen for these on worker-0"));
  const Json page(page_document(kTreePage, shown));
  CHECK(page["schema"] == "tfdata-doctor.tree/2");
  CHECK(page["pipelines"] == json_of(shown)["pipelines"]);
  CHECK(page["other_iterators"][0]["iterators"][0]["short_name"] == "Other");
}

TEST_CASE("a tree that is very deep stays readable and is walked without recursion") {
  Case deep = input_bound_case();
  HostMeasurement& host = deep.measurements.hosts[0];
  PipelineMeasurement& pipeline = host.pipelines[0];
  constexpr std::size_t kDepth = 20'000;
  for (std::size_t index = 4; index < kDepth; ++index) {
    const std::size_t parent = index == 4 ? 1 : index - 1;
    host.iterators.push_back(iterator("x", "Map", static_cast<std::uint32_t>(index), static_cast<IteratorId>(parent)));
    host.iterators[parent].children = {static_cast<IteratorId>(index)};
    pipeline.members.push_back(static_cast<IteratorId>(index));
  }
  deep.diagnosis.judgement.pipelines[0].culprit = static_cast<IteratorId>(kDepth - 1);
  CHECK(members_in_tree_order(host, pipeline).size() == kDepth);
  CHECK(page_text(kTreePage, deep).size() < kDepth * 200);
  TextStyle style;
  style.detail = Detail::full;
  CHECK(holds(text_of(deep, style), "Where   Root > ... > Map > "));
}

TEST_CASE("a rule's page ends with the thresholds in force") {
  const CatalogEntry entry{{"slow-thing",
                            "A thing is slow",
                            {references::kAnalysis},
                            {{"min_share", 0.2, "share", "from here on it is slow"}}},
                           "# slow-thing\n"};
  const ThresholdSettings settings = {{"slow-thing", {{"min_share", 0.4}}}};
  const std::string text = render_rule_text(entry, settings);
  CHECK(text.starts_with("# slow-thing\n"));
  CHECK(holds(text,
              "## Read more\n- Analyze tf.data performance with the TF Profiler\n"
              "  https://www.tensorflow.org/guide/data_performance_analysis\n"));
  CHECK(holds(text, "min_share = 40% (default 20%)"));
  CHECK(holds(text, "--set slow-thing.min_share=0.4"));
  CHECK(holds(render_rule_text(entry, {}), "min_share = 20%\n"));
  CHECK(render_rules_text({&entry, 1}) == "slow-thing  A thing is slow\n");
  const Json page = Json::parse(to_text(rules_json({&entry, 1}, settings, true)));
  CHECK(page["rules"][0]["thresholds"][0]["value"] == 0.4);
  CHECK(page["rules"][0]["thresholds"][0]["default"] == 0.2);
  CHECK(page["rules"][0]["page"] == "# slow-thing\n");
}

}  // namespace
}  // namespace doctor::report_test
