#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "batch/row_output.h"
#include "process/exit_code.h"
#include "process/progress_line.h"
#include "text/numbers.h"

namespace doctor {
namespace {

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::uint64_t per_second(const BatchTally& tally, std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(static_cast<double>(tally.traces) / std::max(seconds_of(duration), 1e-3));
}

std::uint64_t of(const BatchTally& tally, VerdictStatus status) {
  return tally.verdicts[static_cast<std::size_t>(status)];
}

/// "412 input-bound, 3 out of memory": only what there is.
std::string list(const std::vector<std::pair<std::uint64_t, std::string_view>>& counts) {
  std::string text;
  for (const auto& [count, words] : counts) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_count(count), words);
  }
  return text;
}

}  // namespace

void BatchTally::add(const DiagnosedTrace& trace) {
  ++traces;
  if (trace.exit_code == kExitFailure) {
    ++unreadable;
    return;
  }
  ++verdicts[static_cast<std::size_t>(trace.status)];
  with_findings += trace.exit_code == kExitFinding ? 1U : 0U;
  const bool has_verdict = trace.status == VerdictStatus::input_bound || trace.status == VerdictStatus::healthy;
  with_open_budgets += has_verdict && trace.has_open_budget ? 1U : 0U;
}

int exit_code_of(const BatchTally& tally) {
  if (tally.errors() + tally.unreadable_folders > 0) return kExitFailure;
  if (tally.with_findings > 0) return kExitFinding;
  if (tally.with_open_budgets > 0) return kExitNothing;
  const bool has_verdict = of(tally, VerdictStatus::input_bound) + of(tally, VerdictStatus::healthy) > 0;
  return has_verdict || tally.skipped > 0 ? kExitClean : kExitNothing;
}

std::string render_summary(const BatchTally& tally, std::optional<std::chrono::nanoseconds> duration) {
  std::string text = format_count(tally.traces, "trace");
  if (duration) {
    text +=
        fmt::format(" in {:.1f} s ({} a second)", seconds_of(*duration), format_count(per_second(tally, *duration)));
  }
  const std::string verdicts = list({{of(tally, VerdictStatus::input_bound), "input-bound"},
                                     {of(tally, VerdictStatus::healthy), "healthy"},
                                     {of(tally, VerdictStatus::no_input_pipeline), "without an input pipeline"},
                                     {of(tally, VerdictStatus::inconclusive), "inconclusive"}});
  if (!verdicts.empty()) text += ": " + verdicts;
  const std::string errors = list({{tally.unreadable, "could not be read"},
                                   {tally.timed_out, "took too long"},
                                   {tally.out_of_memory, "needed too much memory"},
                                   {tally.crashed, "crashed"},
                                   {tally.unreadable_folders, "folders could not be read"}});
  if (!errors.empty()) text += "; " + errors;
  if (tally.beside_another > 0) {
    text += fmt::format("; {} read with another one of the same process", format_count(tally.beside_another, "file"));
  }
  if (tally.unfinished > 0) text += fmt::format("; {} still being written", format_count(tally.unfinished));
  if (tally.skipped > 0) text += fmt::format("; {} were there already", format_count(tally.skipped));
  return text + "\n";
}

std::string batch_progress_line(const BatchTally& tally, std::optional<std::uint64_t> total,
                                std::chrono::nanoseconds duration, std::size_t width) {
  const std::uint64_t done = tally.traces + tally.skipped + tally.beside_another;
  const std::uint64_t rate = per_second(tally, duration);
  std::vector<std::string> parts;
  if (total && *total >= done) {
    const double share = *total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(*total);
    parts = {fmt::format("{} of {} traces", format_count(done), format_count(*total)),
             fmt::format("{:2.0f}%", share * 100)};
  } else {
    parts = {format_count(done, "trace")};
  }
  parts.push_back(fmt::format("{} a second", format_count(rate)));
  if (total && *total >= done && tally.traces > 0) {
    const double left = seconds_of(duration) / static_cast<double>(tally.traces) * static_cast<double>(*total - done);
    parts.push_back(time_text(std::chrono::seconds(static_cast<std::int64_t>(left))) + " left");
  }
  if (tally.errors() > 0) parts.push_back(format_count(tally.errors(), "error"));
  std::string line = parts.front();
  for (std::size_t index = 1; index < parts.size(); ++index) {
    if (line.size() + 2 + parts[index].size() > width) break;
    line += "  " + parts[index];
  }
  return line.substr(0, width);
}

}  // namespace doctor
