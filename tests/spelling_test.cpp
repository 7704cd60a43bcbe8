// Advice in the words of the TensorFlow that the trace was recorded with.

#include "diagnose/spelling.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "built_paths.h"
#include "measured_pipeline.h"
#include "run_tool.h"

namespace doctor::spelling_test {
namespace {

constexpr RecordedVersion kSession = {{1, 15}, true};
constexpr RecordedVersion kAnyTf2 = {{2, 0}, false};
constexpr RecordedVersion kNew = {{2, 6}, false};

Advice spelled(const RecordedVersion& version, const std::string& code, const std::string& text = "Do it.") {
  Advice advice = {text, code};
  spell_for(version, advice);
  return advice;
}

const std::string kMap = "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)";

TEST_CASE("a TF1 job gets what TF 1.15 has") {
  const Advice map = spelled(kSession, kMap, "Use num_parallel_calls=tf.data.AUTOTUNE");
  CHECK(*map.code == "dataset = dataset.map(f, num_parallel_calls=tf.data.experimental.AUTOTUNE)");
  CHECK(map.text.action == "Use num_parallel_calls=tf.data.experimental.AUTOTUNE");
  CHECK(map.versions == "written for TF 1.15, and runs on later versions");
}

TEST_CASE("an argument that TF 1.15 lacks becomes the option that it has") {
  CHECK(*spelled(kSession, "dataset = dataset.interleave(f, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)")
             .code ==
        "dataset = dataset.interleave(f, num_parallel_calls=tf.data.experimental.AUTOTUNE)\n"
        "options = tf.data.Options()\n"
        "options.experimental_deterministic = False\n"
        "dataset = dataset.with_options(options)");
}

TEST_CASE("brackets that the older spelling opens are closed before a comment") {
  CHECK(*spelled(kSession, "dataset = dataset.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)  # last").code ==
        "dataset = dataset.apply(tf.data.experimental.map_and_batch(\n"
        "    f, batch_size, num_parallel_calls=tf.data.experimental.AUTOTUNE))  # last");
}

TEST_CASE("where the version is not known the code is that of today, and what to write before is said") {
  const Advice advice = spelled(kAnyTf2, kMap);
  CHECK(*advice.code == kMap);
  CHECK(advice.versions == "TF 2.4 and newer have tf.data.AUTOTUNE; before: tf.data.experimental.AUTOTUNE");
  CHECK(spelled(kAnyTf2, "d = d.interleave(f, deterministic=False)").versions ==
        "TF 2.2 and newer have deterministic=False; before: options.experimental_deterministic = False");
}

TEST_CASE("where the events show a version that has it, nothing is said") {
  CHECK(spelled(kNew, kMap).versions.empty());
  CHECK(spelled(kNew, "@tf.function(reduce_retracing=True)").versions ==
        "TF 2.9 and newer have reduce_retracing=True; before: experimental_relax_shapes=True");
}

TEST_CASE("no spelling of an older version has a piece that only newer ones have") {
  for (const Spelling& spelling : spellings()) {
    for (const Spelling& other : spellings()) {
      CAPTURE(spelling.now);
      CHECK(spelling.before.find(other.now) == std::string_view::npos);
      CHECK(spelling.then.find(other.now) == std::string_view::npos);
    }
  }
}

TEST_CASE("the version is known by the root iterator of TF 2.6 and by timelines of session runs") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Map", "TFRecord"});
  CHECK(recorded_version(pipeline.host()).oldest == TfVersion{2, 6});
  MeasuredPipeline older({"Model", "Prefetch", "Map", "TFRecord"});
  CHECK(recorded_version(older.host()).oldest == TfVersion{2, 0});
  older.host().has_session_runs = true;
  CHECK(recorded_version(older.host()).oldest == TfVersion{1, 15});
}

TEST_CASE("no advice on a timeline of TF 1.15 needs a newer version") {
  const std::string trace = source_dir() + "/testdata/traces/tf1_sequential_map.timeline.json";
  const auto report = nlohmann::json::parse(run_tool({trace, "--format", "json"}).output);
  std::size_t snippets = 0;
  for (const auto& finding : report["findings"]) {
    for (const auto& advice : finding["advice"]) {
      if (advice["code"].is_null()) continue;
      ++snippets;
      for (const Spelling& spelling : spellings()) {
        CHECK(advice["code"].get<std::string>().find(spelling.now) == std::string::npos);
        CHECK(advice["text"].get<std::string>().find(spelling.now) == std::string::npos);
      }
    }
  }
  CHECK(snippets > 0);
}

}  // namespace
}  // namespace doctor::spelling_test
