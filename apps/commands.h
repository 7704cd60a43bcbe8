#pragma once

#include "command_line/options.h"

namespace doctor {

// One function a command: runs it, prints what it found, returns the exit code.

int run_diagnose(const Options& options);
int run_show(const Options& options);
int run_compare(const Options& options);
int run_baseline(const Options& options);
int run_explain(const Options& options);
int run_rules(const Options& options);
int run_batch(const Options& options);
int run_convert(const Options& options);
int run_fleet(const Options& options);
int run_query(const Options& options);
int run_schema(const Options& options);
int run_config(const Options& options);
int run_completions(const Options& options);
int run_man(const Options& options);

/// `--list-runs` of diagnose and show.
int run_list_runs(const Options& options);

}  // namespace doctor
