#include "command_line/help_text.h"

#include <fmt/format.h>

#include "pages.h"

namespace doctor {

std::string program_usage() {
  return "Usage: tfdata-doctor [diagnose] [OPTIONS] TRACE...\n"
         "       tfdata-doctor show PAGE [OPTIONS] TRACE...\n"
         "       tfdata-doctor compare BASE... -- CANDIDATE...\n"
         "       tfdata-doctor baseline add|show|prune FILE [TRACE...]\n"
         "       tfdata-doctor convert TRACE... -o FILE\n"
         "       tfdata-doctor explain RULE [TRACE...]\n"
         "       tfdata-doctor rules\n"
         "       tfdata-doctor config show\n"
         "       tfdata-doctor completions bash|zsh|fish\n\n"
         "Examples:\n"
         "  tfdata-doctor logs/                      the newest run of a TensorBoard log directory\n"
         "  tfdata-doctor host.xplane.pb -v          one trace file, with all evidence\n"
         "  tfdata-doctor --format json -o report.json trace.json.gz\n";
}

std::string page_help() {
  std::string help;
  for (const Page& page : pages()) {
    help += fmt::format("{}{}: {}{}", help.empty() ? "" : "\n", page.name, page.summary, page.has_csv ? " (csv)" : "");
  }
  return help;
}

}  // namespace doctor
