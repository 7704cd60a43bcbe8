#include "fleet/fleet_pages.h"
#include "text/json_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

OrderedJson trend_json(const std::optional<FleetTrend>& trend) {
  if (!trend) return nullptr;
  return {{"first", trend->first}, {"last", trend->last}, {"earlier", trend->earlier}, {"later", trend->later}};
}

OrderedJson time_json(std::int64_t nanoseconds) {
  return nanoseconds == 0 ? OrderedJson(nullptr) : OrderedJson(to_timestamp(nanoseconds));
}

OrderedJson pipeline_json(const FleetPipeline& pipeline) {
  return {{"signature", pipeline.signature},
          {"lost_hours", to_hours(pipeline.lost_ns)},
          {"traces", pipeline.traces},
          {"jobs", pipeline.jobs},
          {"dated_traces", pipeline.dated_traces},
          {"first_recorded_at", time_json(pipeline.first_ns)},
          {"last_recorded_at", time_json(pipeline.last_ns)},
          {"earlier_traces", pipeline.earlier_count},
          {"later_traces", pipeline.later_count},
          {"input_share", trend_json(pipeline.input_share)},
          {"get_next_p50_us", trend_json(pipeline.get_next_p50)},
          {"p_value", or_null(pipeline.p_value)},
          {"regression", pipeline.is_regression},
          {"example", pipeline.example}};
}

OrderedJson run_json(const JobRun& run) {
  return {{"recorded_at", time_json(run.recorded_ns)},
          {"step_p50_us", run.step_us},
          {"verdict", text_or_null(run.verdict)},
          {"input_share", or_null(run.input_share)},
          {"culprit", text_or_null(run.culprit)},
          {"limiting_resource", text_or_null(run.limiting_resource)},
          {"source", text_or_null(run.source)},
          {"signature", text_or_null(run.signature)},
          {"trace", run.trace}};
}

OrderedJson slowdown_json(const JobHistory& job, const JobSlowdown& slowdown) {
  const auto time_of = [&](std::size_t run) { return time_json(job.runs[run].recorded_ns); };
  return {{"run", slowdown.run},
          {"since", time_of(slowdown.run)},
          {"until", slowdown.until ? time_of(*slowdown.until) : OrderedJson(nullptr)},
          {"before_us", slowdown.before_us},
          {"after_us", slowdown.after_us},
          {"ratio", slowdown.ratio()},
          {"changed", text_or_null(describe_cause(job, slowdown))},
          {"trace", job.runs[slowdown.run].trace}};
}

OrderedJson job_json(const JobHistory& job) {
  OrderedJson slowdowns =
      array_of(job.slowdowns, [&](const JobSlowdown& slowdown) { return slowdown_json(job, slowdown); });
  OrderedJson runs = array_of(job.runs, run_json);
  return {{"job", job.job}, {"slowdowns", std::move(slowdowns)}, {"runs", std::move(runs)}};
}

}  // namespace

OrderedJson fleet_json(const Fleet& fleet, const FleetView& view) {
  OrderedJson verdicts = OrderedJson::object();
  for (const auto& [verdict, count] : fleet.verdicts) verdicts[verdict] = count;
  OrderedJson page = begun_page("tfdata-doctor.fleet/2");
  page["rows"] = {{"counted", fleet.rows}, {"repeated", fleet.repeated}, {"not_rows", fleet.not_rows}};
  page["rows"]["first_not_row"] = text_or_null(fleet.first_not_row);
  page["jobs"] = fleet.jobs;
  page["recorded_hours"] = to_hours(fleet.window_ns);
  page["lost_hours"] = to_hours(fleet.lost_ns);
  page["predicted_traces"] = fleet.saved.traces;
  page["conditional_traces"] = fleet.saved.conditional_traces;
  page["saved_hours"] = to_hours(fleet.saved.ns);
  page["saved_low_hours"] = to_hours(fleet.saved.low_ns);
  if (view.price) {
    page["price_per_hour"] = *view.price;
    page["saved_money"] = to_hours(fleet.saved.ns) * *view.price;
    page["saved_low_money"] = to_hours(fleet.saved.low_ns) * *view.price;
  }
  page["verdicts"] = std::move(verdicts);
  page["culprits"] = table_json(culprit_table(fleet, view));
  page["lines"] = table_json(line_table(fleet, view));
  page["rules"] = table_json(rule_table(fleet, view));
  page["grouped_by"] = text_or_null(fleet.grouped_by);
  page["groups"] = table_json(group_table(fleet, view));
  page["slower_jobs"] = array_of(shown_entries(fleet.slower_jobs, view), job_json);
  page["pipelines"] = array_of(shown_entries(fleet.pipelines, view), pipeline_json);
  page["regressions"] = array_of(shown_entries(fleet.regressions, view),
                                 [&](std::size_t index) { return pipeline_json(fleet.pipelines[index]); });
  page["errors"] = table_json(error_table(fleet, view));
  return page;
}

}  // namespace doctor
