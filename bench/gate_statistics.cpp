// How often comparisons of recordings fire: scripts/gate-statistics runs this.
//
//   gate_statistics [--size N] [--weak] [--most N] RECORDING...               like recordings: every alarm is false
//   gate_statistics [--size N] [--weak] [--most N] BASE... -- CANDIDATE...    the candidate is slower: alarms are right
//
// A folder stands for all recordings in it, as for `tfdata-doctor compare`. Compares N recordings (5) with N others,
// for every way to draw them, or for `--most` ways drawn at random with a fixed seed where there are more. Prints one
// line: draws, alarms, draws that were inconclusive, ways there are to draw.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"
#include "diagnose/catalog.h"
#include "io/trace_inputs.h"
#include "pipeline.h"
#include "trace/recording_facts.h"

namespace {

using namespace doctor;

struct Arguments {
  std::size_t size = 5;
  bool is_weak = false;
  std::uint64_t most = UINT64_MAX;
  std::vector<std::string> base;
  std::optional<std::vector<std::string>> candidate;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int index = 1; index < count; ++index) {
    const std::string_view word = values[index];
    const auto number = [&] { return std::strtoull(index + 1 < count ? values[++index] : "0", nullptr, 10); };
    if (word == "--size") {
      arguments.size = number();
    } else if (word == "--most") {
      arguments.most = number();
    } else if (word == "--weak") {
      arguments.is_weak = true;
    } else if (word == "--") {
      arguments.candidate.emplace();
    } else {
      (arguments.candidate ? *arguments.candidate : arguments.base).emplace_back(word);
    }
  }
  return arguments;
}

[[noreturn]] void end_with(const Error& error) {
  fmt::print(stderr, "gate_statistics: {}\n", to_string(error));
  std::exit(2);
}

std::vector<RunSummary> summarize(const std::vector<std::string>& paths) {
  std::vector<RunSummary> runs;
  for (const std::string& path : paths) {
    const Result<std::vector<Run>> recordings = list_recordings(path);
    if (!recordings) end_with(recordings.error());
    for (const Run& recording : *recordings) {
      const Analysis analysis = diagnose_files(recording.files, {.rules = all_rules(), .needs = summary_needs()});
      if (!analysis.has_readable_file()) end_with(analysis.unreadable.front());
      runs.push_back(summarize_run(recording.name, analysis.measurements, analysis.diagnosis));
      add_recording_facts(recording_facts_beside(recording.files.front()), runs.back());
    }
  }
  return runs;
}

using Indices = std::vector<std::size_t>;

/// Calls `visit` with every ascending choice of `size` of `from`.
void for_each_choice(const Indices& from, std::size_t size, const std::function<void(const Indices&)>& visit) {
  std::vector<bool> is_chosen(from.size());
  std::fill(is_chosen.begin(), is_chosen.begin() + static_cast<std::ptrdiff_t>(std::min(size, from.size())), true);
  if (size > from.size()) return;
  do {
    Indices chosen;
    for (std::size_t index = 0; index < from.size(); ++index) {
      if (is_chosen[index]) chosen.push_back(from[index]);
    }
    visit(chosen);
  } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
}

double choices(std::size_t from, std::size_t size) {
  double count = 1;
  for (std::size_t index = 0; index < size; ++index) {
    count = count * static_cast<double>(from - index) / static_cast<double>(index + 1);
  }
  return count;
}

Indices all_indices(std::size_t count) {
  Indices indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

class Counter {
 public:
  explicit Counter(const Arguments& arguments)
      : arguments_(arguments),
        base_(summarize(arguments.base)),
        candidate_(arguments.candidate ? summarize(*arguments.candidate) : std::vector<RunSummary>{}),
        thresholds_(comparison_thresholds(), {}) {
    choice_.is_weak = arguments.is_weak;
  }

  void count() {
    const std::size_t size = arguments_.size;
    const std::size_t candidates = arguments_.candidate ? candidate_.size() : base_.size() - size;
    if (base_.size() < size || candidates < size) return;
    all_ = choices(base_.size(), size) * choices(candidates, size);
    if (all_ > static_cast<double>(arguments_.most)) return count_some();
    for_each_choice(all_indices(base_.size()), size, [&](const Indices& base) {
      for_each_choice(candidates_beside(base), size, [&](const Indices& candidate) { compare_draw(base, candidate); });
    });
  }

  void print() const { fmt::print("{} {} {} {:.0f}\n", draws_, alarms_, inconclusive_, all_); }

 private:
  Indices candidates_beside(const Indices& base) const {
    if (arguments_.candidate) return all_indices(candidate_.size());
    Indices others;
    for (std::size_t index = 0; index < base_.size(); ++index) {
      if (std::find(base.begin(), base.end(), index) == base.end()) others.push_back(index);
    }
    return others;
  }

  void count_some() {
    std::mt19937_64 random(1);
    const auto draw = [&](Indices from) {
      // Not std::shuffle, whose draws differ between standard libraries.
      for (std::size_t index = 0; index < arguments_.size; ++index) {
        std::swap(from[index], from[index + random() % (from.size() - index)]);
      }
      from.resize(arguments_.size);
      return from;
    };
    for (std::uint64_t index = 0; index < arguments_.most; ++index) {
      const Indices base = draw(all_indices(base_.size()));
      compare_draw(base, draw(candidates_beside(base)));
    }
  }

  void compare_draw(const Indices& base, const Indices& candidate) {
    const std::vector<RunSummary>& candidates = arguments_.candidate ? candidate_ : base_;
    drawn_base_.clear();
    drawn_candidate_.clear();
    for (const std::size_t index : base) drawn_base_.push_back(base_[index]);
    for (const std::size_t index : candidate) drawn_candidate_.push_back(candidates[index]);
    const RunComparison comparison = compare(drawn_base_, drawn_candidate_, choice_, thresholds_);
    ++draws_;
    alarms_ += comparison.outcome == ComparisonOutcome::regression ? 1 : 0;
    inconclusive_ += comparison.outcome == ComparisonOutcome::inconclusive ? 1 : 0;
  }

  const Arguments& arguments_;
  std::vector<RunSummary> base_;
  std::vector<RunSummary> candidate_;
  ThresholdValues thresholds_;
  ComparisonChoice choice_;
  std::vector<RunSummary> drawn_base_;
  std::vector<RunSummary> drawn_candidate_;
  double all_ = 0;  // may be more than an integer holds
  std::uint64_t draws_ = 0;
  std::uint64_t alarms_ = 0;
  std::uint64_t inconclusive_ = 0;
};

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  Counter counter(arguments);
  counter.count();
  counter.print();
  return 0;
}
