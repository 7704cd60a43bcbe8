#include "command_line/request.h"
#include "commands.h"
#include "process/output.h"
#include "query/warehouse.h"

namespace doctor {

int run_schema(const Request& request) {
  if (!request.given("for")) {
    return fail_with({"schema needs --for", {}, {}, "tfdata-doctor schema --for bigquery|clickhouse|duckdb|spark"});
  }
  const auto engine = static_cast<Warehouse>(request.word("for"));
  return print_page(warehouse_schema(engine, static_cast<LoadedTable>(request.word("of"))), request.text("output"));
}

}  // namespace doctor
