// Tables of warehouses: they fit what is written, line by line.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "query/load_inputs.h"
#include "query/tables.h"
#include "query/warehouse.h"
#include "run_tool.h"

namespace doctor::schema_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kTrace = source_dir() + "/testdata/traces/seed_example1.xplane.pb";

TraceRow some_row() {
  TraceRow row;
  row.file = {"a.pb", 12, "abc"};
  row.recorded_ns = 1'700'000'000'000'000'000;
  row.verdict = "healthy";
  row.confidence = 0.5;
  row.function_ops = {{"MatMul", 3.5, 0.5}};
  row.findings = {{"slow-source", "warning", "Iterator::Root::TFRecord"}, {"missing-prefetch", "note", ""}};
  return row;
}

/// Whether a value can be loaded into a field of a BigQuery schema.
bool fits(const Json& value, const Json& field) {
  const std::string type = field["type"];
  if (field["mode"] == "REPEATED") {
    if (!value.is_array()) return false;
    for (const Json& item : value) {
      if (item.size() != field["fields"].size()) return false;
      for (const Json& member : field["fields"]) {
        if (!item.contains(member["name"]) || !fits(item[member["name"].get<std::string>()], member)) return false;
      }
    }
    return true;
  }
  if (value.is_null()) return field["mode"] == "NULLABLE";
  if (type == "STRING" || type == "TIMESTAMP") return value.is_string();
  if (type == "INTEGER") return value.is_number_integer();
  if (type == "FLOAT") return value.is_number();
  if (type == "BOOLEAN") return value.is_boolean();
  return type == "JSON" && value.is_object();
}

void check_lines(const std::string& lines, LoadedTable table) {
  const Json schema = Json::parse(warehouse_schema(Warehouse::bigquery, table));
  std::istringstream stream(lines);
  int count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    const Json row = Json::parse(line);
    REQUIRE(row.size() == schema.size());
    for (const Json& field : schema) {
      CAPTURE(field["name"].get<std::string>());
      REQUIRE(row.contains(field["name"]));
      REQUIRE(fits(row[field["name"].get<std::string>()], field));
    }
  }
  CHECK(count > 0);
}

}  // namespace

TEST_CASE("the schema of BigQuery fits what is written") {
  check_lines(run_tool({"convert", kTrace, "--format", "ndjson"}).output, LoadedTable::events);
  check_lines(render_row(some_row()) + render_row(failed_row({"b.pb", 0, ""}, "no such file")), LoadedTable::rows);
}

TEST_CASE("all warehouses get the same columns in the same order") {
  for (const LoadedTable table : {LoadedTable::events, LoadedTable::rows}) {
    const Json fields = Json::parse(warehouse_schema(Warehouse::bigquery, table));
    for (const Warehouse warehouse : {Warehouse::clickhouse, Warehouse::duckdb, Warehouse::spark}) {
      const std::string schema = warehouse_schema(warehouse, table);
      std::size_t at = 0;
      for (const Json& field : fields) {
        CAPTURE(field["name"].get<std::string>());
        at = schema.find(field["name"].get<std::string>() + " ", at);
        REQUIRE(at != std::string::npos);
      }
    }
  }
  const std::string duckdb = run_tool({"schema", "--for", "duckdb"}).output;
  CHECK(duckdb.find("  start_us DOUBLE,\n  duration_us DOUBLE,\n  iterator_id VARCHAR,") != std::string::npos);
  CHECK(duckdb.find("COPY events FROM 'events.ndjson'") != std::string::npos);
  const std::string spark = run_tool({"schema", "--for", "spark", "--of", "rows"}).output;
  CHECK(spark.find("findings ARRAY<STRUCT<rule: STRING, severity: STRING, subject: STRING>>") != std::string::npos);
  const std::string clickhouse = run_tool({"schema", "--for", "clickhouse"}).output;
  CHECK(clickhouse.find("iterator_id Nullable(String)") != std::string::npos);
  CHECK(clickhouse.find("ENGINE = MergeTree ORDER BY (file, process, thread, start_us)") != std::string::npos);
}

TEST_CASE("rows of batch are asked like traces, each once") {
  const TemporaryDirectory folder;
  const std::string lines = render_row(some_row()) + render_row(failed_row({"b.pb", 0, ""}, "took longer than 60 s"));
  const std::string results = folder.write("results.ndjson", lines);
  // The last line was cut off; the others are known.
  const std::string more = folder.write("more.ndjson", lines + "{\"schema\":\"tfdata-do");
  const auto ask = [&](const std::string& sql) {
    return run_tool({"query", sql, results, more, "--format", "csv"}).output;
  };
  CHECK(ask("SELECT path, verdict, error FROM traces ORDER BY path") ==
        "path,verdict,error\na.pb,healthy,\nb.pb,,took longer than 60 s\n");
  CHECK(ask("SELECT rule, subject FROM findings ORDER BY rule") ==
        "rule,subject\nmissing-prefetch,\nslow-source,Iterator::Root::TFRecord\n");
  CHECK(ask("SELECT value ->> '$.op' AS op FROM traces, json_each(function_ops)") == "op\nMatMul\n");
  CHECK(ask("SELECT path, sha256, bytes FROM files WHERE sha256 IS NOT NULL") == "path,sha256,bytes\na.pb,abc,12\n");
  const std::string wrong = folder.write("wrong.ndjson", lines + "{\"schema\":\"tfdata-doctor.row/2\"}\n");
  // As in fleet: a line that is not a row is told of and left out.
  const Ended told = run_tool({"query", "SELECT count(*) AS n FROM traces", wrong, "--format", "csv"});
  CHECK(told.code == 0);
  CHECK(told.output == "n\n2\n");
  CHECK(told.errors.find("line 3") != std::string::npos);
}

TEST_CASE("traces have the columns of a row") {
  const QueryTable& table = *find_query_table("traces");
  REQUIRE(table.columns.size() == trace_row_columns().size());
  for (std::size_t column = 1; column < table.columns.size(); ++column) {
    CHECK(table.columns[column].name == trace_row_columns()[column].name);
  }
}

}  // namespace doctor::schema_test
