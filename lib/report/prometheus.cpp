// Metrics as Prometheus scrapes them: https://prometheus.io/docs/instrumenting/exposition_formats/.

#include "diagnose/judgement_words.h"
#include "report/json_values.h"
#include "report/report.h"

namespace doctor {
namespace {

/// The unit of times in Prometheus.
double in_seconds(Picoseconds time) {
  return static_cast<double>(time) / static_cast<double>(kPicosecondsPerSecond);
}

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

/// The page as it grows: a head for each metric, then its samples.
class MetricsPage {
 public:
  /// Begins a metric; all are gauges, because each trace is judged by itself.
  void begin(std::string_view name, std::string_view help) {
    name_ = fmt::format("tfdata_doctor_{}", name);
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help);
  }

  void add(double value, const Labels& labels = {}) {
    text_ += name_;
    const char* separator = "{";
    for (const auto& [label, text] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", std::exchange(separator, ","), label, escape_for_prometheus(text));
    }
    text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
  }

  /// A metric of one sample; none where there is no value.
  void add_metric(std::string_view name, std::string_view help, std::optional<double> value) {
    if (!value) return;
    begin(name, help);
    add(*value);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

/// Whether there is anything beyond it to tell.
bool add_trace(const Measurements& measurements, MetricsPage& page) {
  std::size_t unreadable = 0;
  std::int64_t recorded = 0;
  Picoseconds window = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.loss.counts.contains("files_unreadable")) ++unreadable;
    recorded = std::max(recorded, host.recorded_ns);
    window = std::max(window, host.window);
  }
  const bool is_readable = unreadable < measurements.hosts.size();
  page.add_metric("up", "Whether a trace could be read.", is_readable ? 1 : 0);
  page.add_metric("hosts", "Hosts of the run.", static_cast<double>(measurements.hosts.size()));
  page.add_metric("hosts_unreadable", "Hosts without a trace that could be read.", static_cast<double>(unreadable));
  if (!is_readable) return false;
  page.add_metric("window_seconds", "Length of the trace.", in_seconds(window));
  page.add_metric("recorded_timestamp_seconds", "When the recording began.",
                  recorded == 0 ? std::nullopt : std::optional(static_cast<double>(recorded) / 1e9));
  return true;
}

void add_verdict(const Judgement& judgement, MetricsPage& page) {
  using enum VerdictStatus;
  page.begin("verdict", "The verdict: 1 for the status that holds, 0 for the others.");
  for (const VerdictStatus status : {input_bound, healthy, no_input_pipeline, inconclusive}) {
    page.add(status == judgement.status ? 1 : 0, {{"status", to_word(status)}});
  }
  page.add_metric("confidence_ratio", "How sure the verdict is.", judgement.confidence);
}

/// Of the worst pipeline, as the verdict.
void add_pipeline(const PipelineView& view, MetricsPage& page) {
  page.add_metric("input_share_ratio", "Share of the time that the consumer waits for its input.",
                  input_share_of(view));
  if (names_culprit(view.judgement)) {
    const IteratorMeasurement& culprit = view.culprit();
    page.begin("culprit_share_ratio", "Share of the waits that is for the iterator to blame.");
    page.add(view.judgement.culprit_share, {{"iterator", culprit.long_name}, {"dataset", culprit.short_name}});
  }
  const bool has_rate = view.judgement.steps_per_s > 0;
  page.add_metric("steps_per_second", "Steps a second, by the model of the pipeline.",
                  has_rate ? std::optional(view.judgement.steps_per_s) : std::nullopt);
  page.add_metric("steps_per_second_without_input", "The same if every element were ready.",
                  has_rate ? std::optional(view.judgement.steps_per_s_without_input) : std::nullopt);
  if (view.pipeline.calls.empty()) return;
  page.begin("get_next_seconds", "Time of the GetNext calls of the consumer; quantile 1 is the longest.");
  page.add(in_seconds(view.pipeline.median), {{"quantile", "0.5"}});
  page.add(in_seconds(view.pipeline.p95), {{"quantile", "0.95"}});
  page.add(in_seconds(view.pipeline.max), {{"quantile", "1"}});
}

/// What tells a host from the others, and stays the same from trace to trace: its machine, and the name of its file.
Labels labels_of(const HostMeasurement& host) {
  const std::string_view path = host.files.front().path;
  const std::string_view machine = host.hosts.empty() ? std::string_view() : host.hosts.front();
  return {{"host", machine}, {"file", path.substr(path.rfind('/') + 1)}};
}

void add_hosts(const Measurements& measurements, const HostComparison& comparison, MetricsPage& page) {
  if (!comparison.is_possible()) return;
  page.begin("host_input_share_ratio", "Share of the time that the consumer on a host waits for its input.");
  for (const ComparedHost& host : comparison.hosts) {
    if (host.judgement) page.add(host.input_share, labels_of(measurements.hosts[host.host]));
  }
  page.begin("host_straggler", "Whether the other hosts wait for this one.");
  for (const ComparedHost& host : comparison.hosts) {
    if (host.judgement) page.add(host.is_straggler ? 1 : 0, labels_of(measurements.hosts[host.host]));
  }
}

void add_findings(const std::vector<Finding>& findings, MetricsPage& page) {
  std::map<std::pair<std::string_view, std::string_view>, double> counts;
  for (const Finding& finding : findings) {
    if (!finding.suppressed) ++counts[{finding.rule, to_word(finding.severity)}];
  }
  if (counts.empty()) return;
  page.begin("findings", "Findings by rule and severity, without those that are suppressed.");
  for (const auto& [key, count] : counts) page.add(count, {{"rule", key.first}, {"severity", key.second}});
}

}  // namespace

std::string render_prometheus(const Measurements& measurements, const Diagnosis& diagnosis) {
  MetricsPage page;
  page.begin("info", "The version of tfdata-doctor, and how much of its sandbox was in force.");
  page.add(1, {{"version", DOCTOR_VERSION}, {"sandbox", sandbox_word()}});
  if (!add_trace(measurements, page)) return page.take();
  add_verdict(diagnosis.judgement, page);
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  if (!views.empty()) add_pipeline(views.front(), page);
  add_hosts(measurements, diagnosis.hosts, page);
  add_findings(diagnosis.findings, page);
  return page.take();
}

}  // namespace doctor
