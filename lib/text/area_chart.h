#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace doctor {

/// Lines of a chart, the highest first: a column for each value, filled up to it from below. `values` are 0 or more;
/// the greatest of them fills all `height` lines, and what is more than nothing can be seen.
std::vector<std::string> area_chart(const std::vector<double>& values, std::size_t height);

}  // namespace doctor
