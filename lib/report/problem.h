#pragma once

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "diagnose/finding.h"
#include "diagnose/judgement_words.h"
#include "text/table.h"
#include "trace/source_lines.h"

namespace doctor {

// What documents for CI systems are made from, whatever command found it: a diagnosis, a comparison. Plain data; every
// text may hold foreign text, which the sinks below escape.

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
/// repository where the trace was recorded. Where only the file's name is known, `source`, which the user named, must
/// end in it. nullopt where no way leads to a place. Looks at no file.
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

enum class ProblemOutcome { passed, failed, nothing_to_judge };

struct ProblemReport {
  std::string command;  ///< that made it: "diagnose"
  std::string verdict;  ///< a word or two in capitals: "INPUT-BOUND"
  std::string summary;  ///< the verdict in one sentence with its numbers
  ProblemOutcome outcome = ProblemOutcome::passed;
  std::vector<ProblemRule> rules;
  std::vector<Problem> problems;  ///< gravest first
  std::vector<NotEvaluated> not_evaluated;
  std::string settings_note;       ///< as Diagnosis::settings_note
  std::vector<std::string> notes;  ///< what a reader should know beside them; foreign text
  std::string title;               ///< of a comment, in place of the command; empty: the command
  std::string one_line;            ///< all that a comment says where nothing failed; empty: it has more to say
  struct NextStep {
    std::string words;    ///< "Accept it"
    std::string command;  ///< foreign text; empty: the words say it
  };
  std::vector<NextStep> next;  ///< what to do about failures
  /// Lines of a picture made of characters, for where there is no other; foreign text.
  std::vector<std::string> picture;
  DataTable numbers;  ///< that a person wants to see whatever was found; without rows: none
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
std::vector<const NotEvaluated*> skipped_rules(const ProblemReport& report);

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

// Documents for CI systems. None can fail; the same report gives the same bytes. Foreign text is escaped for each.

/// More results than GitHub's code scanning takes of one run (docs.github.com, "SARIF results exceed one or more
/// limits"). Those beyond are counted in a notification of the document.
inline constexpr std::size_t kMostSarifResults = 25'000;

/// Bytes of a Markdown document: GitHub refuses a comment of more than 65,536 characters; the rest is for the heading
/// that a workflow may put above it.
inline constexpr std::size_t kLongestMarkdown = 60'000;

/// SARIF 2.1.0 (OASIS) as GitHub's code scanning takes it: each result has a relative path, a line and a fingerprint.
/// Suppressed problems are results with `suppressions`.
std::string render_sarif(const ProblemReport& report);

/// JUnit XML: a test case for each problem (failed if it fails the command, else passed with its text), for each rule
/// that found nothing (passed) or was not evaluated (skipped), and one that is an error where there was nothing to
/// judge. Suppressed problems are skipped.
std::string render_junit(const ProblemReport& report);

/// GitLab's Code Quality report: a JSON array. Suppressed problems are left out.
std::string render_gitlab(const ProblemReport& report);

/// Workflow commands of GitHub Actions, a line each: the verdict as a notice, then an annotation for each problem.
/// Every line begins with "::". Suppressed problems are left out.
std::string render_github(const ProblemReport& report);

/// A comment or a job summary: the verdict, a table of the problems, what to do in foldable sections. At most
/// kLongestMarkdown bytes; says what was cut. Suppressed problems are counted.
std::string render_markdown(const ProblemReport& report);

/// The surroundings of a diagnosis: how strict the user is, and where her code lies.
struct ProblemContext {
  std::span<const CatalogEntry> catalog = {};
  std::optional<Severity> fail_on = Severity::warning;  ///< problems from here up fail; nullopt: none does
  /// Where the pipeline is written, for problems whose line is not known; none: they are shown at the traces.
  std::optional<ProblemLocation> source = {};
  std::string working_directory = {};  ///< absolute
};

/// "INPUT-BOUND": the verdict as pages print it.
std::string verdict_words(VerdictStatus status);

/// What the command ends with: `fail_on` is that of ProblemContext.
ProblemOutcome outcome_of(const Diagnosis& diagnosis, std::optional<Severity> fail_on);

/// The findings of a diagnosis as problems, in their order.
ProblemReport problems_of(const Measurements& measurements, const Diagnosis& diagnosis, const ProblemContext& context);

}  // namespace doctor
