#pragma once

#include <string>
#include <vector>

namespace doctor {

enum class Align { left, right };

/// Columns as wide as their widest cell. The first row holds the titles; all rows have a cell for each of `columns`.
/// Cells are text for a terminal, escaped already.
std::string text_table(const std::vector<Align>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace doctor
