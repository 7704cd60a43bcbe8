#pragma once

#include <string_view>
#include <vector>

#include "query/user_query.h"

namespace doctor {

/// A question of lib/query/examples.sql, and the SQL that answers it.
struct QueryExample {
  std::string_view question;
  std::string_view sql;
};

inline std::vector<QueryExample> query_examples() {
  std::vector<QueryExample> examples;
  for (std::string_view rest = kQueryExamples; !rest.empty();) {
    const std::size_t line = rest.find('\n');
    const std::size_t end = rest.find(";\n");
    examples.push_back({rest.substr(3, line - 3), rest.substr(line + 1, end - line - 1)});
    rest.remove_prefix(std::min(rest.size(), end + 3));
  }
  return examples;
}

}  // namespace doctor
