#pragma once

#include <span>
#include <string>
#include <string_view>

namespace doctor {

/// SQL that answers a question which people have.
struct QueryExample {
  std::string_view question;
  std::string_view sql;
};

std::span<const QueryExample> query_examples();

/// All of them as a file of SQL with comments, for a terminal.
std::string examples_text();

}  // namespace doctor
