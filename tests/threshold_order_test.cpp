// Thresholds are obeyed: moving one in one direction takes findings of its rule away, moving it in the other brings
// some back, and the verdict follows. For every threshold of the catalogue, on every recorded trace.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "diagnose/judgement.h"
#include "pipeline.h"

namespace doctor::threshold_order_test {
namespace {

namespace fs = std::filesystem;

/// What is found, by name, and how bad it is.
using Found = std::map<std::string, int>;

/// Every file in testdata/ that holds a trace, by name.
std::vector<std::string> recorded_traces() {
  std::vector<std::string> traces;
  for (const char* const folder : {"traces", "rules"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "testdata" / folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_trace = name.ends_with(".xplane.pb") || name.ends_with(".trace.json") ||
                            name.ends_with(".trace.json.gz") || name.ends_with(".timeline.json");
      if (is_trace) traces.push_back(entry.path().string());
    }
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

/// From never to always, or the other way round, by way of the default.
std::vector<double> values_of(const Threshold& threshold) {
  const bool is_share = threshold.unit == "share";
  std::vector<double> values = {0};
  for (const double factor : {0.01, 0.25, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 4.0}) {
    values.push_back(is_share ? std::min(1.0, factor * threshold.value) : factor * threshold.value);
  }
  values.push_back(is_share ? 1.0 : 1e9);
  return values;
}

/// A recorded trace, judged again and again.
class JudgedTrace {
 public:
  explicit JudgedTrace(const std::string& file)
      : measurements_(diagnose_files(std::vector<std::string>{file}, {}).measurements),
        throughputs_(measurements_.hosts.begin(), measurements_.hosts.end()),
        judgement_(judge(measurements_, ThresholdValues(judgement_thresholds(), {}), throughputs_)) {}

  /// What the rule finds, and where the verdict has the threshold as well, that. Nullopt where this value leaves too
  /// little evidence for a verdict: that is neither better nor worse.
  std::optional<Found> found(const Rule& rule, const Threshold& threshold, double value) {
    const ThresholdValues values(rule.thresholds, {{std::string(threshold.name), value}});
    const std::string_view shared = rule.states_verdict ? threshold.name : threshold.shared_as;
    if (shared.empty()) return found_by(rule, judgement_, values);
    const Judgement judgement =
        judge(measurements_, ThresholdValues(judgement_thresholds(), {{std::string(shared), value}}), throughputs_);
    if (judgement.status == VerdictStatus::inconclusive) return std::nullopt;
    for (const Rule& other : all_rules()) found_by(other, judgement, ThresholdValues(other.thresholds, {}));
    Found found = found_by(rule, judgement, values);
    add_verdict(judgement, found);
    return found;
  }

  VerdictStatus status_at(double min_share) {
    return judge(measurements_, ThresholdValues(judgement_thresholds(), {{"min_share", min_share}}), throughputs_)
        .status;
  }

 private:
  Found found_by(const Rule& rule, const Judgement& judgement, const ThresholdValues& values) const {
    Found found;
    for (const Finding& finding : rule.check({measurements_, judgement, values}).findings) {
      check_sentences(finding);
      // The verdict may have another culprit: then it is the same finding.
      const std::string subject = rule.states_verdict ? "" : finding.subject;
      int& severity = found[fmt::format("{} {}", place_of(judgement, finding.pipeline), subject)];
      severity = std::max(severity, 1 + static_cast<int>(finding.severity));
    }
    return found;
  }

  static std::string place_of(const Judgement& judgement, std::optional<std::size_t> pipeline) {
    if (!pipeline) return "run";
    return fmt::format("{}:{}", judgement.pipelines[*pipeline].host, judgement.pipelines[*pipeline].pipeline);
  }

  /// Better to worse.
  static void add_verdict(const Judgement& judgement, Found& found) {
    if (judgement.status == VerdictStatus::input_bound) found["verdict"] = 1;
    for (const PipelineJudgement& judged : judgement.pipelines) {
      const std::string place = fmt::format("level of {}:{}", judged.host, judged.pipeline);
      const int level = judged.level == InputLevel::bound ? 2 : judged.level == InputLevel::mild ? 1 : 0;
      if (level > 0) found[place] = level;
      // A reason of its own: a wait that no longer counts does not become one that takes cores.
      if (judged.cost.takes != InputCost::Takes::nothing) found[place + ", by what it takes"] = 1;
    }
  }

  static void check_sentences(const Finding& finding);

  Measurements measurements_;
  Throughputs throughputs_;
  Judgement judgement_;
};

/// In picoseconds, bytes or plain numbers; only quotients of two of them matter.
double quantity(const std::string& number, const std::string& unit) {
  static const std::map<std::string, double> kFactors = {{"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  std::string digits = number;
  std::erase(digits, ',');
  const auto factor = kFactors.find(unit);
  return std::stod(digits) * (factor == kFactors.end() ? 1 : factor->second);
}

/// "P % (a of b)" says that a is P % of b.
void check_shares(const std::string& text) {
  static const std::regex kShare(R"(([\d.]+) % \(([\d.,]+) ?(us|ms|s)? of ([\d.,]+) ?(us|ms|s)?)");
  constexpr double kDigits = 0.02;  // of numbers of three digits each
  for (std::sregex_iterator match(text.begin(), text.end(), kShare), end; match != end; ++match) {
    const double whole = quantity((*match)[4], (*match)[5]);
    const double share = 100 * quantity((*match)[2], (*match)[3]) / whole;
    CHECK_MESSAGE(std::abs(std::stod((*match)[1]) - share) <= kDigits * share + 0.5, text);
  }
}

void JudgedTrace::check_sentences(const Finding& finding) {
  check_shares(finding.message);
  for (const Advice& advice : finding.advice) check_shares(advice.text.whole());
}

/// What a higher value of a threshold does: it takes away, or it adds.
struct Effect {
  std::string taken;  ///< where, and what; empty: nothing
  std::string added;
};

void compare(const Found& lower, const Found& higher, const std::string& where, Effect& effect) {
  const auto is_in = [](const Found& found, const auto& entry) {
    const auto other = found.find(entry.first);
    return other != found.end() && other->second >= entry.second;
  };
  for (const auto& entry : lower) {
    if (!is_in(higher, entry)) effect.taken += fmt::format("\n  {}: {} ({})", where, entry.first, entry.second);
  }
  for (const auto& entry : higher) {
    if (!is_in(lower, entry)) effect.added += fmt::format("\n  {}: {} ({})", where, entry.first, entry.second);
  }
}

TEST_CASE("moving a threshold one way only takes findings away, moving it the other way only adds some") {
  std::map<std::string, Effect> effects;
  for (const std::string& file : recorded_traces()) {
    CAPTURE(file);
    JudgedTrace trace(file);
    for (const Rule& rule : all_rules()) {
      for (const Threshold& threshold : rule.thresholds) {
        const std::string name = fmt::format("{}.{}", rule.id, threshold.name);
        CAPTURE(name);
        std::optional<Found> before;
        for (const double value : values_of(threshold)) {
          std::optional<Found> found = trace.found(rule, threshold, value);
          if (!found) continue;
          const std::string where =
              fmt::format("{}, up to {}", fs::path(file).lexically_relative(source_dir()).string(), value);
          if (before) compare(*before, *found, where, effects[name]);
          before = std::move(found);
        }
      }
    }
  }
  std::size_t with_effect = 0;
  for (const auto& of_name : effects) {
    const std::string& name = of_name.first;  // names that a lambda may capture: clang 14 refuses structured bindings
    const auto& effect = of_name.second;
    CHECK_MESSAGE((effect.taken.empty() || effect.added.empty()), name, ": a higher value takes away", effect.taken,
                  "\nand adds", effect.added);
    if (name.find(".min_") != std::string::npos) CHECK_MESSAGE(effect.added.empty(), name, " adds", effect.added);
    with_effect += effect.taken.empty() && effect.added.empty() ? 0 : 1;
  }
  CHECK(2 * with_effect > effects.size());
}

TEST_CASE("however little waiting is called input-bound, a verdict stays one") {
  for (const std::string& file : recorded_traces()) {
    CAPTURE(file);
    JudgedTrace trace(file);
    if (trace.status_at(0.2) == VerdictStatus::inconclusive) continue;
    CHECK(trace.status_at(0.001) != VerdictStatus::inconclusive);
    CHECK(trace.status_at(0.01) != VerdictStatus::inconclusive);
  }
}

}  // namespace
}  // namespace doctor::threshold_order_test
