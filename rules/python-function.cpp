#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::python_function {
namespace {

std::vector<Advice> advice() {
  return {{{"Write the function in TensorFlow ops", "They run on several threads at once and need no lock."},
           "dataset = dataset.map(f_in_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)"},
          {{"Where it must stay Python, run it once, before training", "Store its results in TFRecord files."},
           std::nullopt},
          {{"Try more parallel calls only where it waits",
            "They help where it waits or calls code that releases Python's lock (NumPy, image libraries). A trace does "
            "not show whether it computes, sleeps, or waits for I/O or for the lock."},
           std::nullopt}};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const CulpritFunction function = ranked.function();
  const bool has_function = ranked.culprit().kind().source != Source::python && function.python > 0;
  if (!examiner.holds(culprit_is(ranked, "one whose function runs Python ops"), has_function)) return std::nullopt;
  const double share = ranked.function().python_share();
  if (!examiner.at_least(share_of("python_share", share), "min_python_share")) return std::nullopt;
  Finding finding = culprit_finding(ranked, fmt::format("{}, whose function is Python for {} of its time",
                                                        culprit_part(ranked), format_share(share)));
  finding.evidence.push_back(share_of("python_share", share));
  finding.evidence.push_back(time_of("python_time", function.python));
  finding.advice = advice();
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "python-function",
          .summary = "The function that the job waits for runs Python code, one thread at a time",
          .follows = {references::kPyFunction},
          .thresholds = {{"min_python_share", 0.5, "share",
                          "minimum share of the function's op time spent in Python ops (PyFunc, EagerPyFunc): at a "
                          "half, Python is what the function mostly does"}},
          .check = each_culprit<Waits::even_at_start, check_culprit>};
}

}  // namespace doctor::rules::python_function
