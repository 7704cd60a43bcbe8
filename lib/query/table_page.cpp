#include "query/table_page.h"

#include <fmt/format.h>

#include <vector>

#include "query/tables.h"
#include "text/text_table.h"

namespace doctor {
namespace {

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
      rows.push_back({"  " + std::string(column.name),
                      std::string(to_word(column.type)) + (column.is_nullable ? " or null" : ""),
                      std::string(column.unit), without_code(column.meaning)});
    }
    text += text_table({{}, {}, {}, {"", Align::left, Fit::wrap}}, rows, width);
  }
  return text;
}

}  // namespace doctor
