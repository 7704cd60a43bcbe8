#include "diagnose/judgement_words.h"
#include "report/json_values.h"
#include "report/page.h"
#include "report/report.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

OrderedJson loss_json(const Loss& loss) {
  OrderedJson json = OrderedJson::object();
  json[key::complete] = loss.complete();
  for (const auto& [reason, count] : loss.counts) json[reason] = count;
  return json;
}

OrderedJson copies_json(const CopyStatistics& copies) {
  return {{key::count, copies.count}, {key::bytes, copies.bytes}, {key::time_us, to_microseconds(copies.time)}};
}

OrderedJson device_json(const HostMeasurement& host, const DeviceActivity& device) {
  // TF1 timelines show neither when a device idles nor which kernels its ops ran as.
  const bool is_aligned = host.device_profile.is_aligned;
  const auto known_time = [&](Picoseconds time) { return known_or_null(is_aligned, to_microseconds(time)); };
  OrderedJson json = {{key::host, host.name()}, {key::device, device.name}};
  json[key::window_us] = known_time(device.length());
  json[key::busy_us] = to_microseconds(device.busy);
  json[key::idle_us] = known_time(device.idle());
  json[key::kernels_us] = to_microseconds(device.kernels);
  json[key::kernel_count] = device.kernel_count;
  json[key::median_kernel_us] = to_microseconds(device.median_kernel);
  json[key::collectives_us] = to_microseconds(device.collectives);
  json[key::half_precision_us] = known_time(device.half_precision);
  json[key::full_precision_us] = known_time(device.full_precision);
  json[key::tensor_core_eligible_us] = to_microseconds(device.tensor_core_eligible);
  json[key::on_tensor_cores_us] = known_time(device.on_tensor_cores);
  json[key::host_to_device] = copies_json(device.to_device);
  json[key::device_to_host] = copies_json(device.to_host);
  json[key::on_device] = copies_json(device.on_device);
  json[key::between_devices] = copies_json(device.between_devices);
  json[key::uncovered_host_to_device_us] = known_time(device.uncovered_copies_to_device);
  if (!device.is_gpu()) {
    json[key::infeed_us] = to_microseconds(device.infeed);
    json[key::outfeed_us] = to_microseconds(device.outfeed);
    json[key::copy_wait_us] = to_microseconds(device.copy_wait);
  }
  return json;
}

/// What devices did; empty where no trace shows it.
OrderedJson devices_json(const Measurements& measurements) {
  OrderedJson devices = OrderedJson::array();
  for (const HostMeasurement& host : measurements.hosts) {
    for (const DeviceActivity& device : host.device_profile.devices) devices.push_back(device_json(host, device));
  }
  return devices;
}

/// What a file lost, without the folder that the sentence begins with.
OrderedJson loss_notes_json(const std::vector<std::string>& notes, const OrderedJson& files) {
  OrderedJson json = OrderedJson::array();
  for (std::string note : notes) {
    for (const OrderedJson& file : files) {
      const std::string& path = file[key::path].get_ref<const std::string&>();
      if (!note.starts_with(path + ":")) continue;
      note.erase(0, path.rfind('/') + 1);
      break;
    }
    json.push_back(std::move(note));
  }
  return json;
}

OrderedJson trace_json(const Measurements& measurements) {
  OrderedJson files = OrderedJson::array();
  OrderedJson hosts = OrderedJson::array();
  OrderedJson devices = OrderedJson::array();
  std::uint64_t iterator_events = 0;
  Picoseconds window = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const TraceFile& file : host.files) {
      // A file that could not be read has no format.
      const OrderedJson format = text_or_null(file.format);
      files.push_back({{key::path, file.path}, {key::format, format}, {key::bytes, file.bytes}});
    }
    for (const std::string& name : host.hosts) hosts.push_back(name);
    for (const std::string& device : host.devices) devices.push_back(device);
    iterator_events += host.iterator_event_count;
    window = std::max(window, host.window);
  }
  const Loss loss = total_loss(measurements);
  OrderedJson notes = loss_notes_json(loss.notes, files);
  OrderedJson json = {
      {key::files, std::move(files)},
      {key::hosts, std::move(hosts)},
      {key::devices, std::move(devices)},
      {key::events, event_count(measurements)},
      {key::iterator_events, iterator_events},
      {key::window_us, to_microseconds(window)},
      {key::loss, loss_json(loss)},
      {key::loss_notes, std::move(notes)},
  };
  if (!measurements.left_out.empty()) json[key::hosts_left_out] = measurements.left_out;
  if (const std::vector<std::string> faults = source_lines_faults(measurements); !faults.empty()) {
    json[key::source_lines_faults] = faults;
  }
  return json;
}

OrderedJson verdict_json(const Measurements& measurements, const Diagnosis& diagnosis,
                         const std::vector<PipelineView>& pipelines) {
  const Judgement& judgement = diagnosis.judgement;
  const Answer answer = answer_of(measurements, diagnosis);
  const std::optional<double> share = pipelines.empty() ? std::nullopt : input_share_of(pipelines.front());
  OrderedJson json = {
      {key::status, to_word(judgement.status)},
      {key::confidence, judgement.confidence},
      {key::input_share, or_null(share)},
      {key::title, title_of(answer.verdict)},
      {key::headline, describe_verdict(answer, measurements, diagnosis)},
      {key::summary, summarize(measurements, diagnosis)},
  };
  json[key::doubt] = text_or_null(describe_doubt(answer.doubt, measurements));
  const auto rate = [&](double PipelineJudgement::*of) {
    const double known = pipelines.empty() ? 0 : pipelines.front().judgement.*of;
    return known_or_null(known > 0, known);
  };
  json[key::limiting_resource] = nullptr;
  json[key::limit] = nullptr;
  if (!pipelines.empty()) add_limit(pipelines.front(), json);
  json[key::speed] = answer.rates ? OrderedJson(describe_rates(*answer.rates)) : OrderedJson(nullptr);
  json[key::steps_per_s] = rate(&PipelineJudgement::steps_per_s);
  json[key::steps_per_s_without_input] = rate(&PipelineJudgement::steps_per_s_without_input);
  json[key::no_gain_because] = text_or_null(describe_missing_gains(answer));
  json[key::culprit] = pipelines.empty() ? OrderedJson(nullptr) : culprit_json(pipelines.front());
  return json;
}

/// Whose pipeline a finding is about; null for the run as a whole.
const HostMeasurement* host_of(const Measurements& measurements, const Finding& finding) {
  return finding.host ? &measurements.hosts[*finding.host] : nullptr;
}

OrderedJson finding_json(const Measurements& measurements, const Finding& finding, const SourceLine* place) {
  OrderedJson json = {
      {key::rule, finding.rule},
      {key::severity, to_word(finding.severity)},
      {key::subject, finding.subject},
      {key::source, source_json(place)},
      {key::message, finding.message},
      {key::evidence, array_of(finding.evidence,
                               [](const Evidence& item) -> OrderedJson {
                                 return {{key::name, item.name}, {key::value, item.value}, {key::unit, item.unit}};
                               })},
      {key::advice, array_of(finding.advice, [&](const Advice& item) -> OrderedJson {
         return {{key::text, item.text.whole()},
                 {key::code, or_null(item.code)},
                 {key::predicted_speedup, item.gain ? OrderedJson(item.gain->factor()) : nullptr},
                 {key::gain, gain_json(item.gain, host_of(measurements, finding))},
                 {key::no_gain_because, text_or_null(std::string(describe(item.no_gain_because)))},
                 {key::versions, text_or_null(item.versions)}};
       })}};
  json[key::follows] = references_json(finding.follows);
  if (finding.suppressed) {
    const std::optional<std::chrono::year_month_day>& expires = finding.suppressed->expires;
    json[key::suppressed] = {{key::reason, finding.suppressed->reason},
                             {key::expires, expires ? OrderedJson(to_date(*expires)) : OrderedJson(nullptr)}};
  }
  return json;
}

/// What an advice changes, as far as a model knows it.
OrderedJson fixes_json(const Measurements& measurements, const Finding& finding, const Advice& advice) {
  if (!finding.host) return OrderedJson::array();
  const HostMeasurement& host = measurements.hosts[*finding.host];
  return array_of(advice.fixes, [&](const Fix& fix) -> OrderedJson {
    return {{key::fix, to_string(fix, host)},
            {key::kind, name_of(fix.kind)},
            {key::iterator, long_name_json(host, fix.iterator)},
            {key::number, or_null(fix.parallelism)},
            {key::cycle_length, or_null(fix.cycle_length)}};
  });
}

/// The one ranking of what to change, best first: the order of the text report. Those that may bring nothing are the
/// last ones, and have an array of their own.
OrderedJson changes_json(const Measurements& measurements, const Diagnosis& diagnosis, bool are_unproven) {
  OrderedJson changes = OrderedJson::array();
  for (const Change& change : diagnosis.changes) {
    if (change.is_unproven != are_unproven) continue;
    const Finding& finding = diagnosis.findings[change.finding];
    const Advice& advice = finding.advice[change.advice];
    changes.push_back({{key::rule, finding.rule},
                       {key::finding, change.finding},
                       {key::advice, change.advice},
                       {key::instead_of, or_null(change.instead_of)},
                       {key::text, advice.text.whole()},
                       {key::code, or_null(advice.code)},
                       {key::gain, gain_json(advice.gain, host_of(measurements, finding))},
                       {key::together, gain_json(change.together, host_of(measurements, finding))},
                       {key::fixes, fixes_json(measurements, finding, advice)},
                       {key::suppressed, finding.suppressed.has_value()}});
  }
  return changes;
}

OrderedJson budget_json(const Measurements& measurements, const BudgetResult& result,
                        const std::vector<PipelineView>& views) {
  OrderedJson json = OrderedJson::object();
  const PipelineView* const view = result.pipeline ? &views[*result.pipeline] : nullptr;
  json[key::pipeline] = view != nullptr ? OrderedJson(pipeline_id(*view)) : OrderedJson(nullptr);
  json[key::match] = text_or_null(result.budget.pipeline);
  json[key::name] = name_of(result.budget.kind);
  json[key::rule] = text_or_null(result.budget.rule);
  json[key::limit] = result.budget.limit;
  json[key::value] = or_null(result.value);
  json[key::unit] = unit_of(result.budget.kind);
  json[key::exceeded] = result.value ? OrderedJson(result.is_exceeded()) : OrderedJson(nullptr);
  json[key::reason] = text_or_null(why_not_evaluated(result, measurements));
  json[key::source] = result.budget.source;
  return json;
}

/// Empty where nothing can be compared.
OrderedJson hosts_json(const HostComparison& comparison, const std::vector<PipelineView>& views) {
  if (!comparison.is_possible()) return OrderedJson::array();
  return array_of(comparison.hosts, [&](const ComparedHost& host) -> OrderedJson {
    const PipelineView* const worst = host.judgement ? &views[*host.judgement] : nullptr;
    const bool is_compared = worst != nullptr;
    const bool has_culprit = is_compared && names_culprit(worst->judgement);
    return {{key::host, host.name},
            {key::input_share, known_or_null(is_compared, host.input_share)},
            {key::get_next_mean_us, known_or_null(is_compared, to_microseconds(host.mean_wait))},
            {key::status, !is_compared        ? "not_compared"
                          : host.is_straggler ? "straggler"
                                              : "alike"},
            {key::culprit, has_culprit ? OrderedJson(worst->culprit().long_name) : nullptr}};
  });
}

}  // namespace

std::string render_json(const Measurements& measurements, const Diagnosis& diagnosis) {
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  JsonObjectText page;
  page.add(key::schema, "tfdata-doctor.report/2");
  page.add(key::tool, tool_json());
  OrderedJson trace = trace_json(measurements);
  if (OrderedJson devices = devices_json(measurements); !devices.empty())
    trace[key::device_activity] = std::move(devices);
  page.add(key::trace, std::exchange(trace, {}));
  page.add(key::verdict, verdict_json(measurements, diagnosis, views));
  page.add(key::hosts_compared, hosts_json(diagnosis.hosts, views));
  page.add_array(key::pipelines, views.size(), [&](std::size_t index) { return pipeline_json(views[index]); });
  page.add(key::pace, pace_json(pace_of(measurements, diagnosis)));
  page.add_array(key::findings, diagnosis.findings.size(), [&](std::size_t index) {
    const Finding& finding = diagnosis.findings[index];
    return finding_json(measurements, finding, source_of(measurements, diagnosis.judgement, finding));
  });
  page.add(key::changes, changes_json(measurements, diagnosis, /*are_unproven=*/false));
  if (const OrderedJson unproven = changes_json(measurements, diagnosis, /*are_unproven=*/true); !unproven.empty()) {
    page.add(key::unproven_changes, unproven);
  }
  page.add_array(key::not_evaluated, diagnosis.not_evaluated.size(), [&](std::size_t index) -> OrderedJson {
    const NotEvaluated& rule = diagnosis.not_evaluated[index];
    return {{key::rule, rule.rule}, {key::reason, rule.reason}};
  });
  if (!diagnosis.settings_note.empty()) page.add(key::settings_note, diagnosis.settings_note);
  if (!diagnosis.budgets.empty()) {
    page.add_array(key::budgets, diagnosis.budgets.size(),
                   [&](std::size_t index) { return budget_json(measurements, diagnosis.budgets[index], views); });
  }
  return page.finish();
}

OrderedJson report_json(const Measurements& measurements, const Diagnosis& diagnosis) {
  return OrderedJson::parse(render_json(measurements, diagnosis));
}

}  // namespace doctor
