#include "query/table_page.h"

#include <fmt/format.h>

#include <vector>

#include "query/examples.h"
#include "query/tables.h"
#include "text/text_table.h"

namespace doctor {
namespace {

std::string type_of(const QueryColumn& column) {
  return std::string(to_word(column.type)) + (column.is_nullable ? " or null" : "");
}

std::string without_code(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    if (letter != '`') plain += letter;
  }
  return plain;
}

}  // namespace

std::string tables_text(PageWidth width) {
  std::string text;
  for (const QueryTable& table : query_tables()) {
    text += text.empty() ? "" : "\n";
    text += fitted_lines(fmt::format("{}: {}\n", table.name, without_code(table.meaning)), width, 2);
    std::vector<TextRow> rows;
    for (const QueryColumn& column : table.columns) {
      rows.push_back(
          {"  " + std::string(column.name), type_of(column), std::string(column.unit), without_code(column.meaning)});
    }
    text += text_table({{}, {}, {}, {"", Align::left, Fit::wrap}}, rows, width);
  }
  return text;
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

}  // namespace doctor
