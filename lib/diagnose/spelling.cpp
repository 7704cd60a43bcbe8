#include "diagnose/spelling.h"

#include <fmt/format.h>

#include "diagnose/user_code.h"

namespace doctor {
namespace {

// The versions are those of the public release notes and API reference of TensorFlow; tests/snippets executes them.
constexpr std::array kSpellings = {
    Spelling{"tf.data.AUTOTUNE", {2, 4}, "tf.data.experimental.AUTOTUNE"},
    Spelling{", deterministic=False",
             {2, 2},
             "",
             {},
             "options = tf.data.Options()\n"
             "options.experimental_deterministic = False\n"
             "dataset = dataset.with_options(options)"},
    Spelling{".batch(batch_size, num_parallel_calls=",
             {2, 5},
             ".apply(tf.data.experimental.map_and_batch(\n    f, batch_size, num_parallel_calls=",
             ")"},
    Spelling{"output_signature=signature", {2, 4}, "output_types=types"},
    Spelling{"options.threading.", {2, 5}, "options.experimental_threading."},
    Spelling{"options.autotune.ram_budget", {2, 7}, "options.experimental_optimization.autotune_ram_budget"},
    Spelling{"iterator = iter(dataset.repeat())",
             {2, 0},
             "iterator = tf.compat.v1.data.make_one_shot_iterator(dataset.repeat())"},
    Spelling{"for step in range(steps):\n    batch = next(iterator)",
             {2, 0},
             "batch = iterator.get_next()  # once, before the loop\nfor step in range(steps):\n    session.run(batch)"},
    Spelling{"dataset.bucket_by_sequence_length(",
             {2, 6},
             "dataset.apply(tf.data.experimental.bucket_by_sequence_length(",
             ")"},
    Spelling{"dataset.rejection_resample(", {2, 7}, "dataset.apply(tf.data.experimental.rejection_resample(", ")"},
    Spelling{"jit_compile=True", {2, 5}, "experimental_compile=True"},
    Spelling{"enable_async=True", {2, 12}, "experimental_enable_async_checkpoint=True"},
    Spelling{"reduce_retracing=True", {2, 9}, "experimental_relax_shapes=True"},
    Spelling{
        "tf.keras.mixed_precision.set_global_policy(", {2, 4}, "tf.keras.mixed_precision.experimental.set_policy("},
};

/// Where a line that `position` is in ends.
std::size_t line_end(const std::string& text, std::size_t position) {
  const std::size_t end = std::min(text.find('\n', position), text.size());
  const std::size_t comment = text.rfind("  #", end);
  return comment != std::string::npos && comment > position ? comment : end;
}

/// Replaces the piece wherever it stands; says whether it did.
bool replace(const Spelling& spelling, std::string& text) {
  bool is_found = false;
  for (std::size_t at = text.find(spelling.now); at != std::string::npos; at = text.find(spelling.now, at)) {
    is_found = true;
    text.replace(at, spelling.now.size(), spelling.before);
    at += spelling.before.size();
    text.insert(line_end(text, at), spelling.closing);
  }
  return is_found;
}

bool uses(const Advice& advice, const Spelling& spelling) {
  const auto has = [&](const std::string& text) { return text.find(spelling.now) != std::string::npos; };
  return has(advice.text.action) || has(advice.text.detail) || (advice.code && has(*advice.code));
}

/// A piece of Python on one line, without what only joins it to its neighbours.
std::string on_one_line(std::string_view python) {
  constexpr std::string_view kJoints = ",( ";
  std::string text(python.substr(0, python.find('\n')));
  text.erase(0, text.find_first_not_of(kJoints));
  while (!text.empty() && kJoints.find(text.back()) != std::string_view::npos) text.pop_back();
  return text;
}

std::string describe(const Spelling& spelling) {
  const std::string since = fmt::format("{}.{}", spelling.since.major_number, spelling.since.minor_number);
  const std::string_view before = spelling.before.empty() ? spelling.then : spelling.before;
  const std::size_t line = before.find("options.");
  return fmt::format("TF {} and newer have {}; before: {}", since, on_one_line(spelling.now),
                     on_one_line(spelling.before.empty() ? before.substr(line) : before));
}

}  // namespace

std::span<const Spelling> spellings() {
  return kSpellings;
}

RecordedVersion recorded_version(const HostMeasurement& host) {
  if (host.has_session_runs) return {{1, 15}, true};
  const bool has_new_root =
      std::any_of(host.iterators.begin(), host.iterators.end(),
                  [](const IteratorMeasurement& iterator) { return iterator.has(Trait::since_tf_2_6); });
  return {has_new_root ? TfVersion{2, 6} : TfVersion{2, 0}, false};
}

void spell_for(const RecordedVersion& version, Advice& advice) {
  for (const Spelling& spelling : kSpellings) {
    if (version.oldest >= spelling.since || !uses(advice, spelling)) continue;
    if (!version.runs_in_session) {
      advice.versions += (advice.versions.empty() ? "" : "; ") + describe(spelling);
      continue;
    }
    replace(spelling, advice.text.action);
    replace(spelling, advice.text.detail);
    if (!advice.code || !replace(spelling, *advice.code) || spelling.then.empty()) continue;
    *advice.code += '\n';
    *advice.code += spelling.then;
  }
  if (version.runs_in_session && advice.code) advice.versions = "written for TF 1.15, and runs on later versions";
}

void spell_for_hosts(const Measurements& measurements, bool is_for_report, std::vector<Finding>& findings) {
  std::vector<RecordedVersion> versions;
  for (const HostMeasurement& host : measurements.hosts) versions.push_back(recorded_version(host));
  for (Finding& finding : findings) {
    const std::size_t host = finding.host.value_or(0);
    if (host >= versions.size() || (!is_for_report && !versions[host].runs_in_session)) continue;
    for (Advice& advice : finding.advice) spell_for(versions[host], advice);
    for (Advice& advice : finding.without_gain) spell_for(versions[host], advice);
  }
}

}  // namespace doctor
