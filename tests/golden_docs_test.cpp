// Tables of documents that follow from those of the sources:
//
// docs/configuration.md    ends in the table of all settings
// docs/query.md            ends in the tables of `query` and its examples
// docs/batch.md            holds the table of all columns of a row
// docs/schemas/row-2.json  is the schema of a row
// scripts/engines/spark.py knows its columns

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "command_line/option_table.h"
#include "fleet/row_columns.h"
#include "golden_file.h"
#include "query/tables.h"
#include "query/user_query.h"
#include "query/warehouse.h"
#include "query_examples.h"
#include "text/json_page.h"

namespace doctor::golden_docs_test {
namespace {

/// Text of one cell.
std::string cell(std::string_view text) {
  std::string result;
  for (const char letter : text) result += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return result;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("`{}`", cell(text));
}

std::string settings_table() {
  std::string table = "| key | option | environment variable | default | |\n|---|---|---|---|---|\n";
  std::set<std::string_view> names;
  for (const OptionEntry& option : option_table()) {
    if (!option.is_setting() || !names.insert(option.name).second) continue;
    const std::string value = option.value_name.empty() ? "" : " " + std::string(option.value_name);
    const std::string_view fallback = option.kind == ValueKind::none ? "false" : option.default_text;
    table += fmt::format("| {} | {} | {} | {} | {} |\n", code(option.key), code(flag_of(option) + value),
                         code(variable_of(option)), code(fallback), cell(option.help));
  }
  return table;
}

std::string type_of(const QueryColumn& column) {
  return std::string(to_word(column.type)) + (column.is_nullable ? " or null" : "");
}

std::string query_page() {
  std::string page;
  for (const QueryTable& table : query_tables()) {
    page +=
        fmt::format("\n### `{}`\n{}.\n\n| column | type | unit | |\n|---|---|---|---|\n", table.name, table.meaning);
    for (const QueryColumn& column : table.columns) {
      page += fmt::format("| `{}` | {} | {} | {} |\n", column.name, type_of(column), column.unit, column.meaning);
    }
  }
  page += "\n## Examples\n`tfdata-doctor query --examples` prints them, too.\n";
  for (const QueryExample& example : query_examples()) {
    page += fmt::format("\n{}{}\n```sql\n{};\n```\n", example.question, example.question.back() == '?' ? "" : ":",
                        example.sql);
  }
  return page;
}

std::string_view to_word(RowType type) {
  switch (type) {
    case RowType::text:
      return "text";
    case RowType::integer:
      return "integer";
    case RowType::real:
      return "real";
    case RowType::boolean:
      return "boolean";
    case RowType::timestamp:
      return "timestamp";
    case RowType::records:
      break;
  }
  return "list of records";
}

void append_rows(std::string& table, std::span<const RowColumn> columns, const std::string& prefix) {
  for (const RowColumn& column : columns) {
    const std::string name = prefix + std::string(column.name);
    table += fmt::format("| `{}` | {}{} | {} | {} |\n", name, to_word(column.type()),
                         column.is_nullable() ? " or null" : "", column.unit, column.meaning);
    append_rows(table, column.fields, name + "[].");
  }
}

std::string_view json_type(RowType type) {
  switch (type) {
    case RowType::integer:
      return "integer";
    case RowType::real:
      return "number";
    case RowType::boolean:
      return "boolean";
    case RowType::records:
      return "array";
    case RowType::text:
    case RowType::timestamp:
      break;
  }
  return "string";
}

/// "Longest of its calls; in microseconds.": the meaning as a sentence without Markdown, with its unit.
std::string description_of(const RowColumn& column) {
  std::string text = column.meaning;
  std::erase(text, '`');
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (column.unit == "us") text += "; in microseconds";
  if (column.unit == "0..1") text += "; 0 to 1";
  return text + ".";
}

OrderedJson object_schema(std::span<const RowColumn> columns);

OrderedJson column_schema(const RowColumn& column) {
  OrderedJson type = json_type(column.type());
  OrderedJson words = column.words;
  if (column.is_nullable()) {
    type = {type, "null"};
    words.push_back(nullptr);
  }
  OrderedJson json = {{"type", std::move(type)}};
  if (column.words.size() == 1) json["const"] = column.words.front();
  if (column.words.size() > 1) json["enum"] = std::move(words);
  if (column.type() == RowType::timestamp) json["format"] = "date-time";
  json["description"] = description_of(column);
  if (!column.fields.empty()) json["items"] = object_schema(column.fields);
  return json;
}

OrderedJson object_schema(std::span<const RowColumn> columns) {
  OrderedJson json = {{"type", "object"}, {"required", OrderedJson::array()}, {"properties", OrderedJson::object()}};
  for (const RowColumn& column : columns) {
    json["required"].push_back(column.name);
    json["properties"][std::string(column.name)] = column_schema(column);
  }
  return json;
}

std::string row_columns_table() {
  std::string table = "| column | type | unit | |\n|---|---|---|---|\n";
  append_rows(table, trace_row_columns(), "");
  return table;
}

std::string row_json_schema() {
  OrderedJson json = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"$id", "urn:tfdata-doctor:row:2"},
                      {"title", kRowSchema},
                      {"description", "A line that batch writes about a trace."}};
  json.update(object_schema(trace_row_columns()));
  return json.dump(2) + "\n";
}

}  // namespace

TEST_CASE("the page about settings has all of them") {
  golden::compare_part(settings_table(), golden::source_folder() / "docs/configuration.md",
                       "<!-- The table is written by scripts/accept-golden. -->\n");
}

TEST_CASE("the page about queries has all tables and examples") {
  golden::compare_part(query_page(), golden::source_folder() / "docs/query.md",
                       "<!-- What follows is written by scripts/accept-golden. -->\n");
}

TEST_CASE("the page about rows has all columns") {
  golden::compare_part(row_columns_table(), golden::source_folder() / "docs/batch.md",
                       "<!-- The table is written by scripts/accept-golden. -->\n", "<!-- End of the table. -->\n");
}

TEST_CASE("the schema of a row has all columns") {
  golden::compare(row_json_schema(), golden::source_folder() / "docs/schemas/row-2.json");
}

TEST_CASE("the script for Spark has all columns") {
  golden::compare_part(warehouse_schema(Warehouse::spark, LoadedTable::rows),
                       golden::source_folder() / "scripts/engines/spark.py", "SCHEMA = \"\"\"\n", "\"\"\"\nTIME");
}

}  // namespace doctor::golden_docs_test
