// A database of traces, and answers to statements.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "built_paths.h"
#include "convert/convert.h"
#include "diagnose/catalog.h"
#include "query/load_inputs.h"
#include "query/user_query.h"
#include "run_tool.h"
#include "written_gpu_traces.h"

namespace doctor::query_test {

inline const std::string kTraces = source_dir() + "/testdata/traces/";

class TextSink final : public ByteSink {
 public:
  std::string text;
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  Result<void> finish() override { return {}; }
};

inline QueryDatabase loaded(const std::vector<std::string>& paths) {
  Result<QueryDatabase> database = QueryDatabase::temporary();
  REQUIRE(database);
  LoadReport report;
  const QueryInputs inputs = examine_inputs(paths, true);
  REQUIRE(inputs.unreadable.empty());
  REQUIRE(load_inputs(*database, inputs, LoadRequest::everything(), {.rules = all_rules()}, report));
  REQUIRE(report.unreadable.empty());
  return std::move(*database);
}

inline Result<std::string> ask(const QueryDatabase& database, const std::string& sql,
                               TableFormat format = TableFormat::csv) {
  Result<UserQuery> query = UserQuery::prepare(database, sql);
  if (!query) return Unexpected(query.error());
  TextSink sink;
  OutputBuffer output(sink);
  if (Result<void> printed = print_rows(*query, format, {}, output); !printed) return Unexpected(printed.error());
  REQUIRE(output.finish());
  return sink.text;
}

/// The answer without its header.
inline std::string answer(const QueryDatabase& database, const std::string& sql) {
  const Result<std::string> text = ask(database, sql);
  REQUIRE_MESSAGE(text, sql, ": ", to_string(text.error()));
  return text->substr(text->find('\n') + 1);
}

inline const std::vector<std::string> kSomeTraces = {
    kTraces + "seed_example1.xplane.pb", kTraces + "tf1_steps/timeline_0.json", kTraces + "tf1_steps/timeline_1.json",
    kTraces + "tf1_steps/timeline_2.json", kTraces + "fused_map_and_batch_tf2.4.trace.json.gz"};

}  // namespace doctor::query_test
