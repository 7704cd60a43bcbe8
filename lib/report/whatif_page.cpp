#include "report/whatif_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "diagnose/cores.h"
#include "diagnose/dataset_words.h"
#include "diagnose/throughput_words.h"
#include "diagnose/user_code.h"
#include "report/selection.h"
#include "text/data_table.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "text/numbers.h"
#include "text/text_table.h"

namespace doctor {
namespace {

/// One host's part of the page.
struct WhatIfHost {
  const WhatIfView& view;
  const HostPredictions& predicted;

  const HostMeasurement& measured() const { return view.measurements.hosts[predicted.host]; }
  bool has_model() const { return predicted.why_none.empty(); }
  bool knows_cores() const { return view.request.cores || measured().cycles.knows_cores; }
  double gain_of(double rate) const { return predicted.now > 0 ? rate / predicted.now : 1; }
  double gain_of(const PredictedFixes& fixes) const { return gain_of(fixes.prediction.estimate); }
  bool is_worth_it(const PredictedFixes& fixes) const { return gain_of(fixes) >= view.min_gain; }

  /// To the ceiling that was measured, if there is one.
  std::optional<IdealGap> gap() const {
    return view.ideal != nullptr && has_model() ? std::optional(gap_to(*view.ideal, predicted)) : std::nullopt;
  }
  bool has_open_gap() const { return view.ideal != nullptr && has_model() && gap_to(*view.ideal, predicted).is_open(); }
  /// Which part of that gap the fixes close; nullopt where none is open.
  std::optional<double> closes(const PredictedFixes& fixes) const {
    const std::optional<IdealGap> open = gap();
    if (!open || !open->is_open()) return std::nullopt;
    return open->closed_by(open->from * gain_of(fixes));
  }
};

/// In the order of the judgement; those without a judged pipeline, and then those without a model, last.
std::vector<WhatIfHost> worst_hosts_first(const WhatIfView& view) {
  std::vector<const HostPredictions*> order;
  for (const HostPredictions& host : view.hosts) order.push_back(&host);
  std::stable_sort(order.begin(), order.end(), [](const HostPredictions* a, const HostPredictions* b) {
    if (a->why_none.empty() != b->why_none.empty()) return a->why_none.empty();
    return a->pipeline.value_or(SIZE_MAX) < b->pipeline.value_or(SIZE_MAX);
  });
  std::vector<WhatIfHost> hosts;
  for (const HostPredictions* host : order) hosts.push_back({view, *host});
  return hosts;
}

/// Empty if the predictions are of several pipelines together.
std::string id_of(const WhatIfHost& host) {
  if (!host.predicted.pipeline) return {};
  const PipelineJudgement& judged = host.view.diagnosis.judgement.pipelines[*host.predicted.pipeline];
  return pipeline_id(judged, host.measured().pipelines[judged.pipeline]);
}

/// The iterator that works at a bottleneck; kNoIterator: none, or a prefetch that only the fix puts there.
IteratorId iterator_at(const WhatIfHost& host, const Bottleneck& bottleneck) {
  return bottleneck.stage < host.measured().iterators.size() ? static_cast<IteratorId>(bottleneck.stage) : kNoIterator;
}

std::string spec_of(const WhatIfHost& host, const PredictedFixes& fixes, std::string_view between) {
  std::string text;
  for (const Fix& fix : fixes.fixes) {
    if (!text.empty()) text += between;
    text += to_string(fix, host.measured());
  }
  return text;
}

OrderedJson rates_json(const Prediction& prediction) {
  return {{"estimate", prediction.estimate}, {"low", prediction.low}, {"high", prediction.high}};
}

OrderedJson bottleneck_json(const WhatIfHost& host, const Bottleneck& bottleneck) {
  const IteratorId iterator = iterator_at(host, bottleneck);
  OrderedJson json = {{"resource", to_word(bottleneck.resource)}, {"iterator", nullptr}};
  if (iterator != kNoIterator) json["iterator"] = host.measured().iterators[index_of(iterator)].long_name;
  return json;
}

OrderedJson fixes_json(const WhatIfHost& host, const PredictedFixes& fixes) {
  const Prediction& prediction = fixes.prediction;
  OrderedJson json = {{"fix", spec_of(host, fixes, " + ")}, {"rule", text_or_null(fixes.rule)}};
  json["steps_per_s"] = rates_json(prediction);
  json["gain"] = host.gain_of(prediction.estimate);
  json["gain_low"] = host.gain_of(prediction.low);
  json["gain_high"] = host.gain_of(prediction.high);
  json["closes"] = or_null(host.closes(fixes));
  json["condition"] = text_or_null(std::string(to_word(prediction.condition)));
  json["then_limited_by"] = bottleneck_json(host, prediction.then_limited_by);
  return json;
}

OrderedJson fixes_json(const WhatIfHost& host, const std::vector<PredictedFixes>& list) {
  OrderedJson json = OrderedJson::array();
  for (const PredictedFixes& fixes : list) json.push_back(fixes_json(host, fixes));
  return json;
}

OrderedJson plan_json(const WhatIfHost& host) {
  if (!host.predicted.plan) return nullptr;
  const FixPlan& plan = *host.predicted.plan;
  OrderedJson json = {{"enough", plan.is_enough}, {"enough_cores", or_null(plan.enough_cores)}};
  json["steps"] = fixes_json(host, plan.steps);
  return json;
}

OrderedJson ideal_json(const WhatIfHost& host) {
  const std::optional<IdealGap> gap = host.gap();
  if (!gap) return nullptr;
  return {{"steps_per_s", gap->to},
          {"gap", gap->size()},
          {"traced", gap->is_traced},
          {"recordings", host.view.ideal->recordings},
          {"file", host.view.ideal->source}};
}

OrderedJson host_json(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  OrderedJson json = {{"id", text_or_null(id_of(host))}, {"host", host_name(host.measured())}};
  if (!host.has_model()) {
    for (const char* const key : {"steps_per_s", "fit", "cores"}) json[key] = nullptr;
    json["threads_seen"] = host.measured().compute_threads;
    for (const char* const key : {"limited_by", "without_input", "ideal"}) json[key] = nullptr;
    json["fixes"] = OrderedJson::array();
    json["together"] = OrderedJson::array();
    json["plan"] = nullptr;
    json["why_none"] = predicted.why_none;
    return json;
  }
  json["steps_per_s"] = {{"measured", predicted.measured}, {"model", predicted.now}};
  json["fit"] = predicted.fit;
  json["cores"] = host.knows_cores() ? OrderedJson(host.measured().cycles.cores) : OrderedJson(nullptr);
  json["threads_seen"] = host.measured().compute_threads;
  json["limited_by"] = bottleneck_json(host, predicted.limited_by);
  json["without_input"] = {{"steps_per_s", rates_json(predicted.without_input)},
                           {"gain", host.gain_of(predicted.without_input.estimate)}};
  json["ideal"] = ideal_json(host);
  json["fixes"] = fixes_json(host, predicted.fixes);
  json["together"] = fixes_json(host, predicted.together);
  json["plan"] = plan_json(host);
  json["why_none"] = nullptr;
  return json;
}

/// Those that were asked for, else each fix and all that go together.
std::vector<const PredictedFixes*> tabled_fixes(const HostPredictions& predicted) {
  if (predicted.asked) return {&*predicted.asked};
  std::vector<const PredictedFixes*> list;
  for (const PredictedFixes& fixes : predicted.fixes) list.push_back(&fixes);
  for (const PredictedFixes& fixes : predicted.together) list.push_back(&fixes);
  return list;
}

/// Where fixes are asked for, hosts whose pipelines they cannot change are left out.
bool is_tabled(const WhatIfHost& host) {
  return host.has_model() && (host.view.request.fixes.empty() || host.predicted.asked);
}

Cell text_cell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

// For a person. What is foreign in these words (names of a trace) is not escaped yet.

/// Three digits: a prediction has no more.
std::string rate_words(double rate) {
  return rate >= 100 ? format_count(static_cast<std::uint64_t>(std::llround(rate))) : fmt::format("{:.3g}", rate);
}

std::string factor_words(double factor) {
  return factor >= 10 ? rate_words(factor) : fmt::format("{:.2f}", factor);
}

/// "34.1 (30.2 to 38)".
std::string rate_range(const Prediction& prediction) {
  return fmt::format("{} ({} to {})", rate_words(prediction.estimate), rate_words(prediction.low),
                     rate_words(prediction.high));
}

/// "x2.04 (1.83 to 2.22)".
std::string gain_range(const WhatIfHost& host, const Prediction& prediction) {
  return fmt::format("x{} ({} to {})", factor_words(host.gain_of(prediction.estimate)),
                     factor_words(host.gain_of(prediction.low)), factor_words(host.gain_of(prediction.high)));
}

/// "AUTOTUNE", "8".
std::string calls_words(const Fix& fix) {
  return fix.parallelism ? fmt::format("{}", *fix.parallelism) : "AUTOTUNE";
}

/// The line of Python that a fix is, as short as it can be.
std::string code_of(const Fix& fix) {
  switch (fix.kind) {
    case FixKind::parallel_map:
      return fmt::format(".map(f, num_parallel_calls={})", calls_words(fix));
    case FixKind::parallel_interleave: {
      const std::string cycle = fix.cycle_length ? fmt::format("cycle_length={}, ", *fix.cycle_length) : "";
      return fmt::format(".interleave(f, {}num_parallel_calls={})", cycle, calls_words(fix));
    }
    case FixKind::parallel_batch:
      return fmt::format(".batch(n, num_parallel_calls={})", calls_words(fix));
    case FixKind::prefetch:
    case FixKind::prefetch_below:
    case FixKind::buffer:
      return fmt::format(".prefetch({})", calls_words(fix));
    case FixKind::cache:
      return ".cache()";
    case FixKind::filter_first:
      return ".filter(f)";
    case FixKind::vectorize:
      return ".batch(n)";
    case FixKind::threadpool:
      return fmt::format("private_threadpool_size={}", fix.parallelism ? calls_words(fix) : "2 * cores");
    case FixKind::unordered:
      return "deterministic=False";
    case FixKind::none:
      break;
  }
  return "no change";
}

/// ".map(f, num_parallel_calls=AUTOTUNE)", ".cache() after Dataset.map".
std::string words_of(const WhatIfHost& host, const Fix& fix) {
  std::string words = code_of(fix);
  if (fix.kind == FixKind::prefetch) words += " at the end";
  if (fix.iterator == kNoIterator) return words;
  const std::string name = describe(host.measured(), fix.iterator);
  const bool is_flat_map = kind_of(host.measured().iterators[index_of(fix.iterator)]) == "FlatMap";
  if (fix.kind == FixKind::parallel_interleave && is_flat_map) return words + " instead of " + name;
  switch (fix.kind) {
    case FixKind::cache:
      return words + " after " + name;
    case FixKind::prefetch_below:
    case FixKind::vectorize:
      return words + " before " + name;
    case FixKind::filter_first:
      return words + " before the map below it";
    case FixKind::buffer:
    case FixKind::unordered:
      return words + " of " + name;
    default:
      return is_one_of_several(host.measured(), fix.iterator) ? words + " for " + name : words;
  }
}

const Fix* find_fix(std::span<const Fix> fixes, FixKind kind, IteratorId iterator) {
  const auto found = std::find_if(fixes.begin(), fixes.end(),
                                  [&](const Fix& fix) { return fix.kind == kind && fix.iterator == iterator; });
  return found == fixes.end() ? nullptr : &*found;
}

/// Whether several threads run the iterator, with all that is below an interleave.
bool is_interleaved(const WhatIfHost& host, IteratorId iterator, std::span<const Fix> fixes) {
  const HostMeasurement& measured = host.measured();
  const auto interleaves = [&](IteratorId id) {
    return is_parallel_interleave(measured.iterators[index_of(id)]) ||
           find_fix(fixes, FixKind::parallel_interleave, id) != nullptr;
  };
  if (interleaves(iterator)) return true;
  for (const IteratorId above : iterators_above(measured, iterator)) {
    if (interleaves(above)) return true;
    if (measured.iterators[index_of(above)].is_async) break;
  }
  return false;
}

std::string parallel_calls_words(const WhatIfHost& host, IteratorId iterator, std::span<const Fix> fixes) {
  std::optional<std::int64_t> calls;
  if (iterator != kNoIterator) {
    const Fix* const fix = find_fix(fixes, FixKind::parallel_map, iterator);
    calls = fix != nullptr ? fix->parallelism : host.measured().iterators[index_of(iterator)].number("parallelism");
  }
  return calls && *calls > 0 ? "its " + format_count(static_cast<std::uint64_t>(*calls), "parallel call")
                             : "its number of parallel calls";
}

std::string resource_words(const WhatIfHost& host, const Bottleneck& bottleneck, std::span<const Fix> fixes) {
  const CycleSample& sample = host.measured().cycles;
  const IteratorId iterator = iterator_at(host, bottleneck);
  switch (bottleneck.resource) {
    case Resource::consumer:
      return "your model";
    case Resource::thread:
      return iterator != kNoIterator && is_interleaved(host, iterator, fixes) ? "the threads of the interleave"
                                                                              : "one thread";
    case Resource::calls:
      return parallel_calls_words(host, iterator, fixes);
    case Resource::pool: {
      const Fix* const pool = find_fix(fixes, FixKind::threadpool, kNoIterator);
      if (!host.knows_cores() && (pool == nullptr || !pool->parallelism)) return "the pool of threads";
      const std::int64_t threads =
          pool != nullptr ? pool->parallelism.value_or(2 * sample.cores) : threads_of_pool(sample, host.view.request);
      return "the pool of " + format_count(static_cast<std::uint64_t>(threads), "thread");
    }
    case Resource::cores: {
      const std::int64_t cores = host.view.request.cores.value_or(sample.cores);
      if (!host.knows_cores()) return "the cores";
      return cores == 1 ? "the one core" : cores == 2 ? "both cores" : fmt::format("all {} cores", cores);
    }
    case Resource::python:
      break;
  }
  return "Python's lock";
}

/// "Dataset.map: one thread", "your model".
std::string limit_words(const WhatIfHost& host, const Bottleneck& bottleneck, std::span<const Fix> fixes) {
  const IteratorId iterator = iterator_at(host, bottleneck);
  const std::string resource = resource_words(host, bottleneck, fixes);
  return iterator == kNoIterator ? resource : describe(host.measured(), iterator) + ": " + resource;
}

std::string_view condition_words(Condition condition) {
  switch (condition) {
    case Condition::none:
      return {};
    case Condition::python_releases_lock:
      return "the function lets go of Python's lock, as NumPy and reading files do; else the lower end holds";
    case Condition::fits_in_memory:
      return "what is cached fits in memory; from the second epoch on";
    case Condition::runs_on_batches:
      return "the function can work on whole batches";
    case Condition::does_not_need_map:
      break;
  }
  return "the filter can decide before the map has run";
}

/// "4 cores and a model 2 times as fast"; empty where nothing is changed.
std::string machine_words(const WhatIfRequest& request) {
  std::string words;
  if (request.cores) words = format_count(static_cast<std::uint64_t>(*request.cores), "core");
  if (request.consumer_factor == 1) return words;
  return words + fmt::format("{}a model {:.3g} times as fast", words.empty() ? "" : " and ", request.consumer_factor);
}

std::string base_line(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  const std::string limit = limit_words(host, predicted.limited_by, {});
  if (const std::string machine = machine_words(host.view.request); !machine.empty()) {
    return fmt::format("{} steps/s now, which means with {} ({} as traced), limited by {}", rate_words(predicted.now),
                       machine, rate_words(predicted.measured), limit);
  }
  return fmt::format("{} steps/s now (traced; {} without the cost of tracing), limited by {}",
                     rate_words(predicted.measured), rate_words(predicted.now), limit);
}

std::string ceiling_line(const WhatIfHost& host) {
  const Prediction& ceiling = host.predicted.without_input;
  return fmt::format("{} steps/s ({} to {}) if every element were ready: x{}", rate_words(ceiling.estimate),
                     rate_words(ceiling.low), rate_words(ceiling.high), factor_words(host.gain_of(ceiling.estimate)));
}

/// "41 steps/s (ideal.xplane.pb)".
std::string ideal_words(const IdealRun& ideal, const IdealGap& gap) {
  std::string from = ideal.source;
  if (ideal.recordings > 1) from += fmt::format(", median of {}", format_count(ideal.recordings, "recording"));
  if (gap.is_traced) from += ", with the cost of tracing";
  return fmt::format("{} steps/s ({})", rate_words(gap.to), from);
}

/// How far it is to the ceiling that was measured.
std::string gap_line(const WhatIfHost& host) {
  const IdealGap gap = *host.gap();
  const std::string ideal = ideal_words(*host.view.ideal, gap);
  if (gap.is_open()) {
    return fmt::format("measured ceiling {}; the gap is {} steps/s", ideal, rate_words(gap.size()));
  }
  if (gap.size() >= 0) return fmt::format("measured ceiling {}; there is hardly a gap to close", ideal);
  return fmt::format(
      "the ideal run is slower than this trace: {}, here {}. It has to be the same loop on the same machine: record "
      "both "
      "again, in turn",
      ideal, rate_words(gap.from));
}

/// What weakens the predictions of a host.
std::vector<std::string> whatif_cautions(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  std::vector<std::string> cautions;
  if (!predicted.is_reliable) {
    cautions.push_back(
        fmt::format("caution: the model does not reproduce the measured rate (model {}, measured {} steps/s): the "
                    "numbers are orders of magnitude",
                    rate_words(predicted.fit * predicted.measured), rate_words(predicted.measured)));
  }
  if (predicted.is_distorted) {
    cautions.push_back(
        "caution: recording the trace itself took a large part of each step, so the trace shows another pipeline than "
        "the one that runs without a profiler");
  }
  if (!host.knows_cores()) {
    cautions.push_back(fmt::format("caution: {}: {} assumed, and with more a fix may gain more (--cores N)",
                                   why_cores_are_unknown(host.measured()),
                                   host.measured().cycles.cores == 1 ? "one is" : "no more are"));
  }
  return cautions;
}

/// A table of fixes: its rows, and on what they depend.
class FixTable {
 public:
  explicit FixTable(const WhatIfHost& host) : host_(host) {}

  void add(std::string label, std::string words, std::string spec, const PredictedFixes& fixes) {
    const Prediction& prediction = fixes.prediction;
    if (prediction.condition != Condition::none) {
      std::string& labels = conditions_[prediction.condition];
      if (!label.empty()) labels += (labels.empty() ? "" : ", ") + label;
    }
    TextRow row = {"  " + label, escape_for_terminal(words), gain_range(host_, prediction)};
    if (const std::optional<double> closes = host_.closes(fixes)) row.push_back(format_share(*closes));
    row.push_back(rate_range(prediction));
    row.push_back(escape_for_terminal(limit_words(host_, prediction.then_limited_by, fixes.fixes)));
    row.push_back(std::move(spec));
    rows_.push_back(std::move(row));
  }

  bool is_empty() const { return rows_.empty(); }

  std::string text(PageWidth width) const {
    std::vector<TextColumn> columns = {
        {"", Align::right, Fit::keep, 0}, {"fix", Align::left, Fit::shorten, 0}, {"gain", Align::left, Fit::keep, 0}};
    if (host_.has_open_gap()) columns.push_back({"closes of the gap", Align::left, Fit::keep, 0});
    columns.push_back({"steps/s", Align::left, Fit::keep, 2});
    columns.push_back({"then limited by", Align::left, Fit::shorten, 1});
    columns.push_back({"--fix", Align::left, Fit::paste, 0});
    return text_table(columns, rows_, width);
  }

  /// "if 2, 3: what is cached fits in memory".
  std::vector<std::string> conditions() const {
    std::vector<std::string> lines;
    for (const auto& [condition, labels] : conditions_) {
      lines.push_back(fmt::format("if{}{}: {}", labels.empty() ? "" : " ", labels, condition_words(condition)));
    }
    return lines;
  }

 private:
  const WhatIfHost& host_;
  std::vector<TextRow> rows_;
  std::map<Condition, std::string> conditions_;  ///< with the labels of their rows
};

/// Lines of one host, each of which is foreign text until it is added.
class HostText {
 public:
  HostText(const WhatIfHost& host, PageWidth width) : host_(host), width_(width) {}

  void line(std::string_view foreign) { page_ += fitted_lines(escape_for_terminal(foreign), width_, 2) + "\n"; }
  void table(const FixTable& table) {
    page_ += table.text(width_);
    for (const std::string& condition : table.conditions()) line(condition);
  }
  void gap() { page_ += '\n'; }
  std::string take() { return std::move(page_); }

  const WhatIfHost& host() const { return host_; }

 private:
  const WhatIfHost& host_;
  PageWidth width_;
  std::string page_;
};

std::string words_of(const WhatIfHost& host, const std::vector<Fix>& fixes) {
  std::string words;
  for (const Fix& fix : fixes) words += (words.empty() ? "" : " + ") + words_of(host, fix);
  return words;
}

/// To paste after --fix.
std::string pasted_spec(const WhatIfHost& host, std::span<const Fix> fixes) {
  std::string text;
  for (const Fix& fix : fixes) {
    text += (text.empty() ? "" : " --fix ") + shell_word(to_string(fix, host.measured()));
  }
  return text;
}

void add_asked_fixes(const PredictedFixes& asked, HostText& page) {
  const WhatIfHost& host = page.host();
  FixTable table(host);
  table.add("", words_of(host, asked.fixes), pasted_spec(host, asked.fixes), asked);
  page.gap();
  page.table(table);
}

std::string plan_outcome(const WhatIfHost& host, const FixPlan& plan) {
  const std::string goal = "your model waits less than 5 % of the time for its input";
  const bool has_steps = !plan.steps.empty();
  if (plan.is_enough) return has_steps ? "with all of them " + goal : goal + ": nothing to do";
  const std::string rest = has_steps ? "that is not enough" : "no fix gains enough";
  if (plan.enough_cores) {
    const std::string cores = format_count(static_cast<std::uint64_t>(*plan.enough_cores), "core");
    return fmt::format("{}: with {} as well, {}", rest, cores, goal);
  }
  const Bottleneck& limit = has_steps ? plan.steps.back().prediction.then_limited_by : host.predicted.limited_by;
  const std::span<const Fix> fixes = has_steps ? std::span(plan.steps.back().fixes) : std::span<const Fix>();
  return fmt::format("{}{}; here the limit is {}", rest, host.knows_cores() ? ", whatever the number of cores" : "",
                     limit_words(host, limit, fixes));
}

void add_plan(const FixPlan& plan, HostText& page) {
  const WhatIfHost& host = page.host();
  page.gap();
  FixTable table(host);
  for (const PredictedFixes& step : plan.steps) {
    const std::span<const Fix> added(&step.fixes.back(), 1);
    table.add(fmt::format("{}", step.fixes.size()), words_of(host, step.fixes.back()), pasted_spec(host, added), step);
  }
  if (table.is_empty()) return page.line("plan: " + plan_outcome(host, plan));
  page.line("plan: one after another, each with those before it");
  page.table(table);
  page.line(plan_outcome(host, plan));
}

/// "1 + 3": fixes that have no row of their own are spelled out.
std::string numbers_of(const WhatIfHost& host, const PredictedFixes& together,
                       const std::vector<const PredictedFixes*>& shown) {
  std::string text;
  for (const Fix& fix : together.fixes) {
    const auto row = std::find_if(shown.begin(), shown.end(),
                                  [&](const PredictedFixes* single) { return single->fixes.front() == fix; });
    text += text.empty() ? "" : " + ";
    text += row == shown.end() ? to_string(fix, host.measured()) : fmt::format("{}", row - shown.begin() + 1);
  }
  return text;
}

void add_fixes(Detail detail, HostText& page) {
  // A screen has room for as many; all are for -v and programs.
  constexpr std::size_t kMostRows = 8;
  const WhatIfHost& host = page.host();
  std::vector<const PredictedFixes*> shown;
  std::string without_gain;
  std::size_t left_out = 0;
  for (const PredictedFixes& fixes : host.predicted.fixes) {
    if (detail == Detail::full || (host.is_worth_it(fixes) && shown.size() < kMostRows)) {
      shown.push_back(&fixes);
    } else if (host.is_worth_it(fixes)) {
      ++left_out;
    } else {
      without_gain += (without_gain.empty() ? "" : " ") + shell_word(spec_of(host, fixes, ""));
    }
  }
  FixTable table(host);
  std::size_t number = 0;
  for (const PredictedFixes* fixes : shown) {
    table.add(fmt::format("{}", ++number), words_of(host, fixes->fixes), pasted_spec(host, fixes->fixes), *fixes);
  }
  for (const PredictedFixes& fixes : host.predicted.together) {
    if (detail != Detail::full && !host.is_worth_it(fixes)) continue;
    table.add(fmt::format("{}", ++number), numbers_of(host, fixes, shown) + " together", pasted_spec(host, fixes.fixes),
              fixes);
  }
  page.gap();
  std::string rest = "no gain";
  if (table.is_empty()) {
    rest = fmt::format("no fix gains x{:.3g} or more", host.view.min_gain);
  } else {
    page.table(table);
  }
  if (left_out > 0) page.line(fmt::format("and {} more: -v shows all", left_out));
  if (!without_gain.empty()) rest += ": " + without_gain;
  if (table.is_empty() || !without_gain.empty()) page.line(rest);
}

std::string host_title(const WhatIfHost& host) {
  const std::string id = id_of(host);
  return (id.empty() ? "" : "pipeline " + id + " on ") + host_name(host.measured());
}

std::string host_text(const WhatIfHost& host, const TextStyle& style) {
  HostText page(host, style.width);
  if (host.view.hosts.size() > 1) page.line(host_title(host));
  if (!host.has_model()) {
    page.line("nothing can be predicted: " + host.predicted.why_none);
    return page.take();
  }
  page.line(base_line(host));
  if (style.detail == Detail::verdict) return page.take();
  page.line(ceiling_line(host));
  if (host.gap()) page.line(gap_line(host));
  for (const std::string& caution : whatif_cautions(host)) page.line(caution);
  const bool has_asked = !host.view.request.fixes.empty();
  if (host.predicted.asked) add_asked_fixes(*host.predicted.asked, page);
  if (has_asked && !host.predicted.asked) page.line("the pipelines of this host cannot be changed so");
  if (host.predicted.plan) add_plan(*host.predicted.plan, page);
  if (!has_asked && !host.predicted.plan) add_fixes(style.detail, page);
  return page.take();
}

}  // namespace

std::string render_whatif_text(const WhatIfView& view, const TextStyle& style) {
  constexpr std::size_t kMostHosts = 4;
  const std::vector<WhatIfHost> hosts = worst_hosts_first(view);
  const std::size_t shown = style.detail == Detail::full ? hosts.size() : std::min(hosts.size(), kMostHosts);
  std::string page;
  for (std::size_t index = 0; index < shown; ++index) {
    if (index > 0 && style.detail != Detail::verdict) page += '\n';
    page += host_text(hosts[index], style);
  }
  if (style.detail == Detail::verdict) return page;
  if (shown < hosts.size()) {
    page += fmt::format("\n{} not shown: -v shows all\n", format_count(hosts.size() - shown, "more host"));
  }
  const bool has_model = std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.has_model(); });
  if (!has_model) return page;
  const std::string machine = view.request.cores ? "otherwise the same machine" : "the same machine";
  const std::string assumed = fmt::format(
      "assumed: {}, the same data, the steady state; nine times out of ten a rate is in its range. See docs/whatif.md",
      machine);
  return page + "\n" + fitted_lines(assumed, style.width, 2) + "\n";
}

std::string render_whatif_json(const WhatIfView& view) {
  OrderedJson pipelines = OrderedJson::array();
  OrderedJson asked = nullptr;
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    pipelines.push_back(host_json(host));
    if (asked.is_null() && host.predicted.asked) asked = fixes_json(host, *host.predicted.asked);
  }
  OrderedJson page = {{"schema", "tfdata-doctor.whatif/1"}, {"tool", tool_json()}};
  page["pipelines"] = std::move(pipelines);
  page["asked"] = std::move(asked);
  return to_text(page);
}

std::string render_whatif_csv(const WhatIfView& view) {
  DataTable table;
  table.columns = {{"pipeline", "pipeline", ColumnKind::text},
                   {"fix", "fix", ColumnKind::text},
                   {"rule", "rule", ColumnKind::text},
                   {"estimate", "steps/s", ColumnKind::number},
                   {"low", "low", ColumnKind::number},
                   {"high", "high", ColumnKind::number},
                   {"gain", "gain", ColumnKind::number},
                   {"gain_low", "gain, low", ColumnKind::number},
                   {"gain_high", "gain, high", ColumnKind::number},
                   {"condition", "if", ColumnKind::text},
                   {"then_limited_by_resource", "then limited by", ColumnKind::text},
                   {"then_limited_by_iterator", "in", ColumnKind::text}};
  if (view.ideal != nullptr) table.columns.push_back({"closes", "closes of the gap", ColumnKind::number});
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    if (!is_tabled(host)) continue;
    for (const PredictedFixes* fixes : tabled_fixes(host.predicted)) {
      const Prediction& prediction = fixes->prediction;
      const IteratorId limit = iterator_at(host, prediction.then_limited_by);
      table.rows.push_back(
          {text_cell(id_of(host)), spec_of(host, *fixes, " + "), text_cell(fixes->rule), prediction.estimate,
           prediction.low, prediction.high, host.gain_of(prediction.estimate), host.gain_of(prediction.low),
           host.gain_of(prediction.high), text_cell(std::string(to_word(prediction.condition))),
           std::string(to_word(prediction.then_limited_by.resource)),
           limit == kNoIterator ? Cell() : Cell(host.measured().iterators[index_of(limit)].long_name)});
      if (view.ideal == nullptr) continue;
      const std::optional<double> closes = host.closes(*fixes);
      table.rows.back().push_back(closes ? Cell(*closes) : Cell());
    }
  }
  return table_csv(table);
}

std::string render_whatif_markdown(const WhatIfView& view) {
  std::string page;
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    const auto paragraph = [&](const std::string& foreign) { page += escape_for_markdown(foreign) + "\n\n"; };
    if (view.hosts.size() > 1) page += "### " + escape_for_markdown(host_title(host)) + "\n\n";
    if (!host.has_model()) {
      paragraph("nothing can be predicted: " + host.predicted.why_none);
      continue;
    }
    paragraph(base_line(host));
    paragraph(ceiling_line(host));
    if (host.gap()) paragraph(gap_line(host));
    for (const std::string& caution : whatif_cautions(host)) paragraph(caution);
    if (!is_tabled(host)) continue;
    DataTable table;
    table.columns = {{"fix", "fix", ColumnKind::any},
                     {"gain", "gain", ColumnKind::text},
                     {"steps_per_s", "steps/s", ColumnKind::text},
                     {"then_limited_by", "then limited by", ColumnKind::text}};
    if (host.has_open_gap()) table.columns.push_back({"closes", "closes of the gap", ColumnKind::text});
    std::map<Condition, std::string> conditions;
    for (const PredictedFixes* fixes : tabled_fixes(host.predicted)) {
      const Prediction& prediction = fixes->prediction;
      if (!host.predicted.asked && !host.is_worth_it(*fixes)) continue;
      const std::string spec = spec_of(host, *fixes, " + ");
      table.rows.push_back({spec, gain_range(host, prediction), rate_range(prediction),
                            limit_words(host, prediction.then_limited_by, fixes->fixes)});
      if (const std::optional<double> closes = host.closes(*fixes))
        table.rows.back().emplace_back(format_share(*closes));
      if (prediction.condition == Condition::none) continue;
      std::string& specs = conditions[prediction.condition];
      specs += (specs.empty() ? "" : ", ") + markdown_code(spec);
    }
    page += table.rows.empty() ? "no fix gains enough\n\n" : table_markdown(table) + "\n";
    for (const auto& [condition, specs] : conditions) {
      page += fmt::format("- {}: if {}\n", specs, escape_for_markdown(condition_words(condition)));
    }
    if (!conditions.empty()) page += '\n';
  }
  return page;
}

}  // namespace doctor
