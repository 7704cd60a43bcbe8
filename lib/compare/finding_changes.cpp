#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compare/comparison_parts.h"

namespace doctor {
namespace {

/// A finding, with its subject as a position in AlignedRuns::iterators where it is an iterator: names change with what
/// is around it.
struct FindingKey {
  std::string rule;
  std::size_t iterator = kNoIndex;
  std::string subject;  ///< only without an iterator

  friend bool operator<(const FindingKey& a, const FindingKey& b) {
    return std::tie(a.rule, a.iterator, a.subject) < std::tie(b.rule, b.iterator, b.subject);
  }
};

class FindingComparer {
 public:
  FindingComparer(const AlignedRuns& runs, const ComparisonChoice& choice, std::size_t needed_count)
      : runs_(runs), choice_(choice), needed_count_(needed_count) {}

  struct Seen {
    std::size_t in_base = 0;
    std::size_t in_candidate = 0;
    FindingSummary example;
  };
  using Entry = std::pair<const FindingKey, Seen>;

  std::vector<StructureChange> find() {
    std::map<FindingKey, Seen> seen;
    for (std::size_t index = 0; index < runs_.base_runs.size(); ++index) {
      for (const FindingSummary& finding : runs_.base_runs[index].findings) {
        Seen& here = seen[key_of(finding, index, false)];
        ++here.in_base;
        here.example = finding;
      }
    }
    for (std::size_t index = 0; index < runs_.candidate_runs.size(); ++index) {
      for (const FindingSummary& finding : runs_.candidate_runs[index].findings) {
        Seen& here = seen[key_of(finding, index, true)];
        ++here.in_candidate;
        here.example = finding;
      }
    }
    // What a rule found at one place and now finds at another is one finding that moved.
    std::map<std::string, std::vector<const Entry*>> gone;  // of each rule, those that have found no new one yet
    for (const Entry& entry : seen) {
      if (entry.second.in_candidate == 0) gone[entry.first.rule].push_back(&entry);
    }
    std::vector<StructureChange> changes;
    for (const Entry& entry : seen) {
      if (entry.second.in_base != 0) continue;
      changes.push_back(describe(entry.second.example, entry.second.in_candidate, true));
      std::vector<const Entry*>& of_rule = gone[entry.first.rule];
      if (of_rule.empty()) continue;
      // One at an iterator that only one side has is about what moved, not about something new.
      if (may_have_moved(entry.first) && may_have_moved(of_rule.back()->first)) changes.back().is_worse = false;
      changes.back().message = fmt::format("{} is a finding at another place", entry.first.rule);
      of_rule.pop_back();
    }
    for (const auto& [rule, entries] : gone) {
      for (const Entry* const entry : entries) {
        changes.push_back(describe(entry->second.example, entry->second.in_base, false));
      }
    }
    return changes;
  }

 private:
  FindingKey key_of(const FindingSummary& finding, std::size_t recording, bool is_candidate) const {
    const RunSummary& run = is_candidate ? runs_.candidate_runs[recording] : runs_.base_runs[recording];
    for (std::size_t index = 0; index < runs_.iterators.size(); ++index) {
      const AlignedIterator& aligned = runs_.iterators[index];
      const std::size_t place = is_candidate ? aligned.in_candidate[recording] : aligned.in_base[recording];
      if (place != kNoIndex && run.iterators[place].long_name == finding.subject) return {finding.rule, index, {}};
    }
    return {finding.rule, kNoIndex, finding.subject};
  }

  /// Whether it is about an iterator that only one side has.
  bool may_have_moved(const FindingKey& key) const {
    return key.iterator != kNoIndex &&
           (runs_.iterators[key.iterator].is_new() || runs_.iterators[key.iterator].is_gone());
  }

  StructureChange describe(const FindingSummary& finding, std::size_t count, bool is_new) const {
    const std::size_t all = is_new ? runs_.candidate_runs.size() : runs_.base_runs.size();
    StructureChange change;
    change.kind = is_new ? ChangeKind::finding_new : ChangeKind::finding_gone;
    change.subject = finding.subject;
    change.message = fmt::format("{} {}", finding.rule, is_new ? "is a new finding" : "is no longer a finding");
    if (count < all) change.message += fmt::format(" ({} of {} recordings)", count, all);
    // A finding may depend on how busy the machine was: one recording proves nothing.
    const std::size_t fewest = std::min(runs_.base_runs.size(), runs_.candidate_runs.size());
    change.is_certain = count == all && fewest >= needed_count_ && !finding.depends_on_load;
    if (finding.depends_on_load) change.message += "; it depends on how busy the machine was";
    change.is_worse = is_new && choice_.fail_on && finding.severity >= *choice_.fail_on;
    return change;
  }

  const AlignedRuns& runs_;
  const ComparisonChoice& choice_;
  std::size_t needed_count_;
};

}  // namespace

std::vector<StructureChange> find_finding_changes(const AlignedRuns& runs, const ComparisonChoice& choice,
                                                  std::size_t needed_count) {
  return FindingComparer(runs, choice, needed_count).find();
}

}  // namespace doctor
