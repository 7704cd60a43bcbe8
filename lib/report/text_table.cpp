#include "report/text_table.h"

#include <algorithm>
#include <cstddef>

#include "report/escape.h"

namespace doctor {

std::string text_table(const std::vector<Align>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      widths[column] = std::max(widths[column], character_count(row[column]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const std::string padding(widths[column] - character_count(row[column]), ' ');
      const bool is_right = columns[column] == Align::right;
      line += (column > 0 ? "  " : "") + (is_right ? padding : "") + row[column] + (is_right ? "" : padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace doctor
