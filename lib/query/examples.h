#pragma once

#include <span>
#include <string>
#include <string_view>

namespace doctor {

/// A question that people have, and the SQL that answers it.
struct QueryExample {
  std::string_view question;
  std::string_view sql;
};

std::span<const QueryExample> query_examples();

/// All examples as a file of SQL with comments, for a terminal.
std::string examples_text();

}  // namespace doctor
