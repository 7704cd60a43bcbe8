#pragma once

#include <string>

#include "text/columns.h"

namespace doctor {

/// `query --schema`: all tables with their columns, for a terminal.
std::string tables_text(PageWidth width = {});

/// The generated part of docs/query.md: the tables and the examples, as Markdown.
std::string query_page();

}  // namespace doctor
