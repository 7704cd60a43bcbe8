#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::slow_op_in_input {
namespace {

Advice for_listing() {
  return {{"List the files once, before training",
           "MatchingFiles, which lists them, takes the time: read their names from a manifest. Have fewer and larger "
           "files."},
          "with tf.io.gfile.GFile(manifest, 'w') as names:  # once, before training\n"
          "  names.write('\\n'.join(sorted(tf.io.gfile.glob(file_pattern))))\n"
          "\n"
          "filenames = tf.data.TextLineDataset(manifest)  # in place of list_files"};
}

Advice for_python() {
  return {
      {"Write the function in TensorFlow ops", "Python runs one call at a time. Or prepare the data before training."},
      "dataset = dataset.map(f_in_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)"};
}

Advice for_function(std::string_view op) {
  return {{"Run map in parallel, and prefetch at the end",
           fmt::format("{} is an op of a function that your dataset calls.", op)},
          "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)\n"
          "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation"};
}

Advice advice_for(std::string_view op) {
  constexpr std::array<std::string_view, 3> kPython = {"PyFunc", "PyFuncStateless", "EagerPyFunc"};
  if (op == "MatchingFiles") return for_listing();
  return std::find(kPython.begin(), kPython.end(), op) != kPython.end() ? for_python() : for_function(op);
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  if (!examiner.holds("the trace is of session runs (a TF1 timeline)", ranked.host.has_session_runs)) {
    return std::nullopt;
  }
  if (!is_waited_for(ranked, Waits::slow, examiner)) return std::nullopt;
  if (!examiner.holds("it shows no iterator inside of GetNext", ranked.pipeline.root == kNoIterator)) {
    return std::nullopt;
  }
  const PhaseMeasurement& phase = ranked.phase();
  if (!examiner.holds("an op of the host runs while GetNext waits", !phase.beside.empty())) return std::nullopt;
  const OpBeside& longest = phase.beside.front();
  const double share = static_cast<double>(longest.time) / static_cast<double>(phase.waited);
  if (!examiner.at_least(share_of("share_of_wait", share), "min_share")) return std::nullopt;
  Finding finding;
  finding.severity = ranked.is_bound() ? Severity::warning : Severity::note;
  finding.subject = longest.op;
  finding.message = fmt::format("{} runs for {} of the time that GetNext waits ({} of {})", longest.op,
                                format_share(share), format_time(longest.time), format_time(phase.waited));
  finding.evidence = {share_of("share_of_wait", share), time_of("op_time", longest.time),
                      time_of("waited", phase.waited)};
  finding.advice = {advice_for(longest.op)};
  finding.at_stake = longest.time;
  finding.is_easy = true;  // before the advice to record more
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "slow-op-in-input",
      .summary = "An op on the host runs while GetNext of a TF1 job waits",
      .follows = {references::kIdentifyBottleneck},
      .thresholds = {{"min_share", 0.50, "share",
                      "minimum share of the time waited in which the op runs. Chosen: an op that is not what GetNext "
                      "waits for runs through half of it by accident only if the model's steps overlap"}},
      .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::slow_op_in_input
