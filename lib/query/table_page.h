#pragma once

#include <string>

#include "text/columns.h"

namespace doctor {

/// `query --schema`: all tables with their columns, for a terminal.
std::string tables_text(PageWidth width = {});

}  // namespace doctor
