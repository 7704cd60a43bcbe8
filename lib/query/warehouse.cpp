#include "query/warehouse.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fleet/row_columns.h"
#include "query/tables.h"

namespace doctor {
namespace {

using OrderedJson = nlohmann::ordered_json;

enum class Kind : std::uint8_t { text, integer, real, boolean, timestamp, text_map, records };

/// A member of the objects that the lines are.
struct Member {
  std::string_view name;
  Kind kind = Kind::text;
  bool is_nullable = false;
  std::string_view meaning;
  std::vector<Member> fields;  ///< of records
};

Kind kind_of(QueryType type) {
  switch (type) {
    case QueryType::integer:
      return Kind::integer;
    case QueryType::real:
      return Kind::real;
    case QueryType::boolean:
      return Kind::boolean;
    case QueryType::text:
      break;
  }
  return Kind::text;
}

Kind kind_of(RowType type) {
  switch (type) {
    case RowType::integer:
      return Kind::integer;
    case RowType::real:
      return Kind::real;
    case RowType::boolean:
      return Kind::boolean;
    case RowType::timestamp:
      return Kind::timestamp;
    case RowType::records:
      return Kind::records;
    case RowType::text:
      break;
  }
  return Kind::text;
}

std::vector<Member> members_of_events() {
  std::vector<Member> members;
  for (const QueryColumn& column : find_query_table("events")->columns) {
    members.push_back({column.name,
                       column.name == "args" ? Kind::text_map : kind_of(column.type),
                       column.is_nullable,
                       column.meaning,
                       {}});
  }
  return members;
}

std::vector<Member> members_of(std::span<const RowColumn> columns) {
  std::vector<Member> members;
  for (const RowColumn& column : columns) {
    members.push_back(
        {column.name, kind_of(column.type()), column.is_nullable(), column.meaning, members_of(column.fields)});
  }
  return members;
}

/// "NAME: TYPE, NAME: TYPE": the members with their types, one after another.
template <typename TypeOf>
std::string list(const std::vector<Member>& members, TypeOf type_of, std::string_view before_type = " ",
                 std::string_view between = ", ") {
  std::string text;
  for (const Member& member : members) {
    if (!text.empty()) text += between;
    text.append(member.name).append(before_type).append(type_of(member));
  }
  return text;
}

// BigQuery: https://cloud.google.com/bigquery/docs/schemas, "Specifying a JSON schema file".

std::string_view bigquery_type(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return "INTEGER";
    case Kind::real:
      return "FLOAT";
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::timestamp:
      return "TIMESTAMP";
    case Kind::text_map:
      return "JSON";
    case Kind::records:
      return "RECORD";
    case Kind::text:
      break;
  }
  return "STRING";
}

OrderedJson bigquery_fields(const std::vector<Member>& members) {
  OrderedJson fields = OrderedJson::array();
  for (const Member& member : members) {
    const bool is_list = member.kind == Kind::records;
    OrderedJson field = {{"name", member.name},
                         {"type", bigquery_type(member.kind)},
                         {"mode", is_list              ? "REPEATED"
                                  : member.is_nullable ? "NULLABLE"
                                                       : "REQUIRED"}};
    if (!member.meaning.empty()) field["description"] = member.meaning;
    if (is_list) field["fields"] = bigquery_fields(member.fields);
    fields.push_back(std::move(field));
  }
  return fields;
}

// ClickHouse: https://clickhouse.com/docs/en/sql-reference/data-types.

std::string clickhouse_type(const Member& member) {
  std::string_view type = "String";
  switch (member.kind) {
    case Kind::integer:
      type = "Int64";
      break;
    case Kind::real:
      type = "Float64";
      break;
    case Kind::boolean:
      type = "Bool";
      break;
    case Kind::timestamp:
      type = "DateTime64(6, 'UTC')";
      break;
    case Kind::text_map:
      return "Map(String, String)";
    case Kind::records:
      return "Array(Tuple(" + list(member.fields, clickhouse_type) + "))";
    case Kind::text:
      break;
  }
  return member.is_nullable ? fmt::format("Nullable({})", type) : std::string(type);
}

// DuckDB: https://duckdb.org/docs/data/json/loading_json.

std::string duckdb_type(const Member& member) {
  switch (member.kind) {
    case Kind::integer:
      return "BIGINT";
    case Kind::real:
      return "DOUBLE";
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::timestamp:
      return "TIMESTAMPTZ";
    case Kind::text_map:
      return "MAP(VARCHAR, VARCHAR)";
    case Kind::records:
      return "STRUCT(" + list(member.fields, duckdb_type) + ")[]";
    case Kind::text:
      break;
  }
  return "VARCHAR";
}

// Spark: https://spark.apache.org/docs/latest/sql-ref-datatypes.html.

std::string spark_type(const Member& member) {
  switch (member.kind) {
    case Kind::integer:
      return "BIGINT";
    case Kind::real:
      return "DOUBLE";
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::timestamp:
      return "TIMESTAMP";
    case Kind::text_map:
      return "MAP<STRING, STRING>";
    case Kind::records:
      return "ARRAY<STRUCT<" + list(member.fields, spark_type, ": ") + ">>";
    case Kind::text:
      break;
  }
  return "STRING";
}

/// How lines of this kind are made, and the name of the table that they go to.
struct Words {
  std::string_view table;
  std::string_view file;
  std::string_view made_by;
  std::string_view order;  ///< of a ClickHouse table: columns that are never null
};

constexpr Words kEventWords = {"events", "events.ndjson", "tfdata-doctor convert TRACE... -o events.ndjson",
                               "(file, process, thread, start_us)"};
constexpr Words kRowWords = {"traces", "results.ndjson", "tfdata-doctor batch PATH... -o results.ndjson", "(path)"};

}  // namespace

std::string warehouse_schema(Warehouse warehouse, LoadedTable table) {
  const bool is_events = table == LoadedTable::events;
  const Words& words = is_events ? kEventWords : kRowWords;
  const std::vector<Member> members = is_events ? members_of_events() : members_of(trace_row_columns());
  switch (warehouse) {
    case Warehouse::bigquery:
      // A file of JSON has no comments; docs/query.md has the command.
      return bigquery_fields(members).dump(2) + "\n";
    case Warehouse::clickhouse:
      return fmt::format(
          "-- {2}\n"
          "-- clickhouse-client --multiquery < schema.sql\n"
          "-- clickhouse-client --date_time_input_format best_effort --query 'INSERT INTO {0} FORMAT JSONEachRow' "
          "< {1}\n"
          "CREATE TABLE IF NOT EXISTS {0} (\n  {3}\n) ENGINE = MergeTree ORDER BY {4};\n",
          words.table, words.file, words.made_by, list(members, clickhouse_type, " ", ",\n  "), words.order);
    case Warehouse::duckdb:
      return fmt::format(
          "-- {2}\n"
          "CREATE TABLE IF NOT EXISTS {0} (\n  {3}\n);\n"
          "COPY {0} FROM '{1}' (FORMAT JSON, ARRAY false);\n",
          words.table, words.file, words.made_by, list(members, duckdb_type, " ", ",\n  "));
    case Warehouse::spark:
      break;
  }
  return list(members, spark_type, " ", ",\n") + "\n";
}

}  // namespace doctor
