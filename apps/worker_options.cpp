#include "worker_options.h"

#include <utility>

#include "analysis.h"

namespace doctor {

BatchOptions worker_options(const Request& request) {
  ReadingOptions reading = reading_options(request);
  reading.setup.work.threads = 1;  // the workers take all cores
  reading.setup.scope = DiagnosisScope::row;
  BatchOptions batch = {.traces = std::move(reading.traces),
                        .files_from = {},
                        .shard = {},
                        .name = {},
                        .output = request.text("output"),
                        .jobs = request.number("jobs").value_or(usable_cores()),
                        .time_limit = {},
                        .max_memory = std::move(reading.max_memory),
                        .fail_on = fail_on_of(request),
                        .budgets = request.budgets,
                        .setup = std::move(reading.setup),
                        .sandbox = reading.sandbox,
                        .quiet = request.is_set("quiet")};
  if (const std::size_t seconds = *request.number("timeout"); seconds > 0) {
    batch.time_limit = std::chrono::seconds(seconds);
  }
  return batch;
}

}  // namespace doctor
