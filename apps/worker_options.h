#pragma once

#include "batch/batch.h"
#include "command_line/request.h"

namespace doctor {

/// The options of `batch` and `watch` for the workers that diagnose traces, and for the output of rows.
BatchOptions worker_options(const Request& request);

}  // namespace doctor
