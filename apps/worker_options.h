#pragma once

#include "batch/batch.h"
#include "command_line/request.h"

namespace doctor {

/// What `batch` and `watch` ask of the workers that diagnose traces, and where rows go.
BatchOptions worker_options(const Request& request);

}  // namespace doctor
