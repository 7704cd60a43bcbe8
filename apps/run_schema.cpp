#include "commands.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "query/warehouse.h"

namespace doctor {

int run_schema(const Options& options) {
  const std::string text = warehouse_schema(*options.schema.engine, options.schema.table);
  const Result<void> written = write_output(text, options.output);
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

}  // namespace doctor
