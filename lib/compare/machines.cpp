#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

#include "base/ranks.h"
#include "compare/comparison.h"

namespace doctor {
namespace {

/// Cores of other programs from here on disturb a recording, and must be so many more than on the other side.
constexpr double kBusyCores = 0.5;

bool agree(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

bool may_be_one_machine(const RecordingFacts& a, const RecordingFacts& b) {
  return agree(a.host, b.host) && agree(a.cpu, b.cpu) && (a.cores == 0 || b.cores == 0 || a.cores == b.cores);
}

bool has_match(const RunSummary& run, std::span<const RunSummary> others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const RunSummary& other) { return may_be_one_machine(run.recording, other.recording); });
}

using Fact = std::function<std::string(const RecordingFacts&)>;

/// "2", "2 and 16"; empty where no recording says it.
std::string values_of(std::span<const RunSummary> runs, const Fact& fact) {
  std::set<std::string> values;
  for (const RunSummary& run : runs) {
    if (std::string value = fact(run.recording); !value.empty()) values.insert(std::move(value));
  }
  return fmt::format("{}", fmt::join(values, " and "));
}

std::string cores_text(const RecordingFacts& facts) {
  return facts.cores == 0 ? std::string() : fmt::format("{}", facts.cores);
}

/// "cores: 2 -> 16"; empty where one side does not say it or both say the same.
std::string difference(std::span<const RunSummary> base, std::span<const RunSummary> candidate, std::string_view what,
                       const Fact& fact) {
  const std::string before = values_of(base, fact);
  const std::string after = values_of(candidate, fact);
  if (before.empty() || after.empty() || before == after) return {};
  return fmt::format("{}: {} -> {}", what, before, after);
}

/// Median of the recordings that say it.
std::optional<double> load_of(std::span<const RunSummary> runs) {
  std::vector<double> loads;
  for (const RunSummary& run : runs) {
    if (run.recording.other_load.during) loads.push_back(*run.recording.other_load.during);
  }
  return loads.empty() ? std::nullopt : std::optional(median(loads));
}

bool say_machine(std::span<const RunSummary> runs) {
  return std::any_of(runs.begin(), runs.end(), [](const RunSummary& run) { return !run.recording.host.empty(); });
}

void note_load(std::span<const RunSummary> base, std::span<const RunSummary> candidate, MachineComparison& machines) {
  const std::optional<double> before = load_of(base);
  const std::optional<double> after = load_of(candidate);
  if (!before || !after || std::max(*before, *after) < kBusyCores) return;
  if (std::max(*before, *after) - std::min(*before, *after) < kBusyCores) return;
  machines.notes.push_back(fmt::format(
      "other programs kept {:.1f} cores busy while the base was recorded, and {:.1f} while the candidate was", *before,
      *after));
}

}  // namespace

MachineComparison compare_machines(std::span<const RunSummary> base, std::span<const RunSummary> candidate) {
  MachineComparison machines;
  if (base.empty() || candidate.empty()) return machines;
  machines.is_other =
      std::none_of(base.begin(), base.end(), [&](const RunSummary& run) { return has_match(run, candidate); });
  const auto host = [](const RecordingFacts& facts) { return facts.host; };
  const auto cpu = [](const RecordingFacts& facts) { return facts.cpu; };
  const auto tensorflow = [](const RecordingFacts& facts) { return facts.tensorflow; };
  if (machines.is_other) {
    for (std::string text : {difference(base, candidate, "host", host), difference(base, candidate, "CPU", cpu),
                             difference(base, candidate, "cores", cores_text)}) {
      if (!text.empty()) machines.differences.push_back(std::move(text));
    }
  }
  if (const std::string text = difference(base, candidate, "TensorFlow", tensorflow); !text.empty()) {
    machines.notes.push_back(text);
  }
  if (say_machine(base) != say_machine(candidate)) {
    machines.notes.push_back(
        fmt::format("the {} does not say on which machine it was recorded", say_machine(base) ? "candidate" : "base"));
  }
  note_load(base, candidate, machines);
  return machines;
}

std::vector<RunSummary> on_machines_of(std::span<const RunSummary> runs, std::span<const RunSummary> others) {
  std::vector<RunSummary> kept;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(kept),
               [&](const RunSummary& run) { return has_match(run, others); });
  return kept.empty() ? std::vector<RunSummary>(runs.begin(), runs.end()) : kept;
}

}  // namespace doctor
