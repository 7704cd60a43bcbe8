// Commands about the program itself: help, man, completions and what they complete with.

#include "command_line/help_pages.h"
#include "commands.h"
#include "query/warehouse.h"
#include "report/report.h"

namespace doctor {
namespace {

/// Of several versions the newest.
Result<std::string> schema_of_document(const Request& request) {
  ASSIGN_OR_RETURN(const std::string name, word_argument(request, "DOCUMENT"));
  const std::span<const DocumentSchema> schemas = document_schemas();
  const auto newest =
      std::find_if(schemas.rbegin(), schemas.rend(), [&](const DocumentSchema& schema) { return schema.name == name; });
  return std::string(newest->text);
}

}  // namespace

Result<int> run_help(const Request& request) {
  const std::string name = request.argument("COMMAND");
  if (name.empty()) return print_page(program_help(), {});
  if (name == "all") return print_page(all_commands_help(), {});
  const CommandEntry* const command = find_command(name);
  if (command == nullptr) return fail("no command '" + name + "'", {}, suggestion(name, command_names()));
  return print_page(command_help(*command), {});
}

Result<int> run_man(const Request& request) {
  return print_page(man_page(), request.text("output"));
}

Result<int> run_completions(const Request& request) {
  ASSIGN_OR_RETURN(const std::string shell, word_argument(request, "SHELL"));
  return print_page(completion_script(shell), request.text("output"));
}

Result<int> run_complete(const Request& request) {
  return print_page(completions_of(request.all("WORD")), {});
}

Result<int> run_schema(const Request& request) {
  const bool is_of_document = !request.argument("DOCUMENT").empty();
  const bool is_of_table = request.given("for").has_value();
  if (is_of_document == is_of_table) {
    return fail(is_of_table ? "schema takes a document or --for, not both" : "schema needs a document or --for", {},
                "'tfdata-doctor schema report' or 'tfdata-doctor schema --for duckdb'");
  }
  if (is_of_document) return print_page(schema_of_document(request), request.text("output"));
  const auto engine = static_cast<Warehouse>(request.word("for"));
  return print_page(warehouse_schema(engine, static_cast<LoadedTable>(request.word("of"))), request.text("output"));
}

}  // namespace doctor
