#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/judgement_words.h"
#include "trace/source_lines.h"

namespace doctor {

// What documents for CI systems are made from, whatever command found it: a diagnosis, a comparison. Plain data; every
// text may hold foreign text, which the sinks (report/problem_sinks.h) escape.

/// A rule that the command may speak of.
struct ProblemRule {
  std::string id;
  std::string title;                      ///< one line
  std::string page;                       ///< its whole page as Markdown; may be empty
  Severity severity = Severity::warning;  ///< of its problems, unless one says otherwise
  std::string url = {};                   ///< of the public page that its advice follows; empty: none
};

/// A place in the repository that a problem is shown at.
struct ProblemLocation {
  std::string path;      ///< relative, as repository_path() returns it; never empty
  std::size_t line = 1;  ///< from 1
};

/// The line in the repository: by its path below the working directory, else by its path from the root of the
/// repository where the trace was recorded. One of which only the file's name is known is looked for in `source`, which
/// the user named. nullopt where none of them has it. Looks at no file.
std::optional<ProblemLocation> location_in_repository(const SourceLine& line,
                                                      const std::optional<ProblemLocation>& source,
                                                      std::string_view working_directory);

/// One fault.
struct Problem {
  std::string rule;  ///< id of one of ProblemReport::rules
  Severity severity = Severity::warning;
  std::string subject;   ///< long name of the iterator, name of the device, host or op; empty: the run as a whole
  std::string pipeline;  ///< long name of the pipeline's root; empty: none in particular
  std::string host;      ///< empty: none in particular
  std::string message;   ///< one sentence with its numbers
  std::vector<Evidence> evidence;
  std::vector<Advice> advice;
  ProblemLocation location;
  /// What distinguishes the problem from others of its rule, the same on every machine and in every run: no numbers
  /// that were measured, no ids, no names of hosts and files. set_fingerprints() makes the fingerprint of it.
  std::string identity;
  std::string fingerprint;                ///< set by set_fingerprints()
  bool fails = false;                     ///< a reason for the command to fail
  std::optional<std::string> suppressed;  ///< why the user does not want to hear of it
};

/// A rule that could not be evaluated.
struct UnevaluatedRule {
  std::string rule;
  std::string reason;
};

/// Numbers that a person wants to see whatever was found. Every row has a cell for each column; foreign text.
struct ProblemTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

enum class ProblemOutcome { passed, failed, nothing_to_judge };

struct ProblemReport {
  std::string command;  ///< that made it: "diagnose"
  std::string verdict;  ///< a word or two in capitals: "INPUT-BOUND"
  std::string summary;  ///< the verdict in one sentence with its numbers
  ProblemOutcome outcome = ProblemOutcome::passed;
  std::vector<ProblemRule> rules;
  std::vector<Problem> problems;  ///< gravest first
  std::vector<UnevaluatedRule> not_evaluated;
  std::string settings_note;       ///< as Diagnosis::settings_note
  std::vector<std::string> notes;  ///< what a reader should know beside them; foreign text
  /// Lines of a picture made of characters, for where there is no other; foreign text.
  std::vector<std::string> picture;
  ProblemTable numbers;                                    ///< without rows: none
  std::string explanation = "tfdata-doctor explain RULE";  ///< command that prints more about the rules
};

/// Fills in the fingerprints: 16 hexadecimal digits of a hash over rule and identity, and the problem's number among
/// those that agree in both (replicas on several hosts), so that all are distinct. The hash is 64-bit FNV-1a
/// (draft-eastlake-fnv), which is the same on every machine.
void set_fingerprints(std::vector<Problem>& problems);

/// Problems that are not suppressed.
std::vector<const Problem*> shown_problems(const ProblemReport& report);

/// Rules that were evaluated and found nothing, in the order of the report; a suppressed problem is something.
std::vector<const ProblemRule*> passed_rules(const ProblemReport& report);

/// Rules that were not evaluated and of which no problem is known either.
std::vector<const UnevaluatedRule*> skipped_rules(const ProblemReport& report);

/// Whether the problems belong to several hosts, so that each must say which.
bool spans_hosts(const ProblemReport& report);

/// "Iterator::Root::Map on host-1", without the host where there is one host only; empty for the run as a whole.
std::string describe_place(const Problem& problem, bool with_host);

/// "share_of_all_calls 63%, calls 8".
std::string describe_evidence(const Problem& problem);

/// "2 warnings, 1 note; 1 suppressed"; "no problems" where there are none.
std::string describe_counts(const ProblemReport& report);

/// The path as CI systems take it: relative to the working directory, which is taken for the root of the repository,
/// with '/' between its parts, none of which is '.' or '..'. Looks at no file. nullopt where there is no such path: a
/// URL, standard input, a file outside of the working directory, the directory itself. `working_directory` is absolute.
std::optional<std::string> repository_path(std::string_view path, std::string_view working_directory);

/// The same for a trace. One elsewhere is called by its file's name alone, which says nothing about the
/// machine, and standard input "standard-input": CI systems refuse a whole document for a single problem without a
/// path.
std::string trace_location(std::string_view path, std::string_view working_directory);

}  // namespace doctor
