#pragma once

namespace doctor {

struct Request;

// One function a command: takes its own options from the request, runs, prints what it found, returns the exit code.

int run_diagnose(const Request& request);
int run_capture(const Request& request);
int run_show(const Request& request);
int run_whatif(const Request& request);
int run_checklist(const Request& request);
int run_compare(const Request& request);
int run_baseline(const Request& request);
int run_batch(const Request& request);
int run_watch(const Request& request);
int run_fleet(const Request& request);
int run_convert(const Request& request);
int run_query(const Request& request);
int run_schema(const Request& request);
int run_explain(const Request& request);
int run_rules(const Request& request);
int run_config(const Request& request);
int run_completions(const Request& request);
int run_man(const Request& request);
int run_help(const Request& request);
int run_complete(const Request& request);

/// `--list-runs` of several commands.
int run_list_runs(const Request& request);

}  // namespace doctor
