#pragma once

#include "base/result.h"
#include "command_line/output_targets.h"

namespace doctor {

struct Page;
struct Request;

// One function for each command: it takes its own options from the request, runs, prints the result, and returns the
// exit status. Errors end the program with kExitFailure.

Result<int> run_diagnose(const Request& request);
Result<int> run_capture(const Request& request);
Result<int> run_show(const Request& request);
Result<int> run_whatif(const Request& request);
Result<int> run_checklist(const Request& request);
Result<int> run_compare(const Request& request);
Result<int> run_baseline(const Request& request);
Result<int> run_batch(const Request& request);
Result<int> run_watch(const Request& request);
Result<int> run_fleet(const Request& request);
Result<int> run_convert(const Request& request);
Result<int> run_query(const Request& request);
Result<int> run_schema(const Request& request);
Result<int> run_explain(const Request& request);
Result<int> run_rules(const Request& request);
Result<int> run_config(const Request& request);
Result<int> run_completions(const Request& request);
Result<int> run_man(const Request& request);
Result<int> run_help(const Request& request);
Result<int> run_complete(const Request& request);

/// `--list-runs` of several commands.
Result<int> run_list_runs(const Request& request);

// The values of --format: the formats of the rows by which the command renders, each in the file that renders.

std::vector<OutputFormat> diagnosis_formats();  ///< of diagnose and capture
std::vector<OutputFormat> whatif_formats();
std::vector<OutputFormat> checklist_formats();
std::vector<OutputFormat> comparison_formats();
std::vector<OutputFormat> baseline_formats();
std::vector<OutputFormat> history_formats();  ///< of baseline log
std::vector<OutputFormat> fleet_formats();
std::vector<OutputFormat> query_formats();
std::vector<OutputFormat> explanation_formats();
std::vector<OutputFormat> rule_list_formats();
std::vector<OutputFormat> settings_formats();
std::vector<OutputFormat> run_list_formats();
std::vector<OutputFormat> page_formats(const Page& page);  ///< of a page of `show`

}  // namespace doctor
