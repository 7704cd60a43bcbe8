#include "compare/comparison_thresholds.h"

namespace doctor {
namespace {

constexpr std::string_view kPage = R"(# compare

## What it sees
Recordings of two versions of a job. First what the pipelines are: iterators, their settings, how often each is called.
Then how long a quarter of the calls of each iterator and each op take at most (the 25th percentile of self time): what
they take where nothing disturbs them.

## Why it matters
A gate that fires on identical code is switched off. Means and medians of steps differ by a third between identical runs
on a busy machine; the 25th percentile of self time by 1 to 2 %.

## What to do
Look at the rows that cost most for each step: they come first. `tfdata-doctor show tree` has the iterators, and a
diagnosis of the candidate says what to change.

## When it is wrong
Where an iterator or op does other work in the candidate (another data set, another batch size), its time says nothing.
Recordings that were made one side after the other also show what changed in the machine meanwhile: record them in turn.
Findings that hang on how busy the cores were are told, and never make a regression. A slow-down of some calls only, by
less than eight times, cannot be told from a busy machine.

## Sources
128 recordings of two pipelines with TF 2.21, idle and with every core half taken: docs/ci.md. Mann and Whitney 1947, Holm
1979, Hodges and Lehmann 1963, Noether 1987.
)";

}  // namespace

std::vector<Threshold> comparison_thresholds() {
  return {
      {"min_recordings", 5, "recordings",
       "a side, from which times are judged: an exact rank test reaches p <= 0.01 with 5 against 5"},
      {"min_ratio", 1.03, "ratio",
       "from which the time of a call counts as slower: like recordings differ by 1 to 2 %"},
      {"significance", 0.01, "probability", "of the rank test of one row, at most"},
      {"family_significance", 0.05, "probability", "of all rows together, at most (Holm)"},
      {"weak_min_recordings", 3, "recordings", "a side, with --weak"},
      {"weak_min_ratio", 1.05, "ratio", "as min_ratio, with --weak"},
      {"weak_significance", 0.05, "probability",
       "of one row with --weak: the smallest that 3 against 3 can reach; rows are not counted together"},
      {"min_share", 0.01, "share",
       "of the pipeline's work that a row must be, to be judged: what is less cannot slow a job by the floor"},
      {"min_calls", 8, "calls", "of an iterator or op in a recording, for it to count"},
      {"calls_min_ratio", 1.25, "ratio", "from which more calls a step count: a window cuts off up to 15 %"},
      {"exchanged_op_min_ratio", 1.5, "ratio",
       "from which ops that are new in a function outweigh those that went: work differs by a third between like runs"},
      {"tail_min_share", 0.05, "share", "of the time of an iterator or op by which its tail must grow"},
      {"step_min_ratio", 1.25, "ratio", "from which GetNext and step times count, where they are judged"},
  };
}

CatalogEntry comparison_catalog_entry() {
  Rule rule;
  rule.id = kComparisonThresholds;
  rule.summary = "a version of the pipeline is slower than another (the command compare)";
  rule.thresholds = comparison_thresholds();
  return {rule, kPage};
}

}  // namespace doctor
