#include <fmt/format.h>

#include "diagnose/dataset_words.h"
#include "diagnose/user_code.h"
#include "report/autotune.h"
#include "text/escape.h"
#include "text/json_page.h"

namespace doctor {
namespace {

// The words of the schema: they never change.
OrderedJson to_word(Binding binding) {
  switch (binding) {
    case Binding::unknown:
      return nullptr;
    case Binding::nothing:
      return "nothing";
    case Binding::empty_buffer:
      return "empty_buffer";
    case Binding::full_buffer:
      return "full_buffer";
    case Binding::bursts:
      return "bursts";
    case Binding::cpu_budget:
      return "cpu_budget";
    case Binding::cycle_length:
      return "cycle_length";
    case Binding::fixed_parallelism:
      break;
  }
  return "fixed_parallelism";
}

OrderedJson reading_json(const AttributeReading& reading) {
  return reading.number ? OrderedJson(*reading.number) : OrderedJson(reading.text);
}

OrderedJson history_json(const HostMeasurement& host, const AttributeHistory& history) {
  const bool was_said = history.event_count > 0;
  const bool has_numbers = history.number_count > 0;
  OrderedJson changes = OrderedJson::array();
  for (const AttributeChange& change : history.changes) {
    changes.push_back(
        {{"time_us", to_microseconds(change.time - host.window_start)}, {"value", reading_json(change.value)}});
  }
  OrderedJson json = {
      {"attribute", history.name},
      {"event_count", history.event_count},
      {"unavailable_count", history.unavailable_count},
      {"first", was_said ? reading_json(history.first) : OrderedJson(nullptr)},
      {"last", was_said ? reading_json(history.last) : OrderedJson(nullptr)},
      {"min", has_numbers ? OrderedJson(history.min) : OrderedJson(nullptr)},
      {"mean", has_numbers ? OrderedJson(history.mean) : OrderedJson(nullptr)},
      {"max", has_numbers ? OrderedJson(history.max) : OrderedJson(nullptr)},
      {"change_count", history.change_count},
  };
  json["changes"] = std::move(changes);
  return json;
}

OrderedJson fill_json(const std::optional<BufferFill>& fill) {
  if (!fill) return nullptr;
  return {{"call_count", fill->calls},
          {"min", fill->min},
          {"mean", fill->mean},
          {"max", fill->max},
          {"empty_share", fill->empty_share()},
          {"full_share", fill->full_share()}};
}

OrderedJson stage_json(const AutotuneGroup& group, const AutotuneStage& stage) {
  const IteratorMeasurement& iterator = group.host.iterators[index_of(stage.iterator)];
  OrderedJson histories = OrderedJson::array();
  for (const AttributeHistory& history : iterator.history.attributes) {
    histories.push_back(history_json(group.host, history));
  }
  OrderedJson json = {
      {"long_name", iterator.long_name},
      {"short_name", iterator.short_name},
      {"stage", describe(group.host, stage.iterator)},
      {"given", stage.is_autotuned ? OrderedJson(*stage.is_autotuned ? "autotune" : "fixed") : OrderedJson(nullptr)},
      {"set_by", is_parallelised_by_tf(iterator) || is_injected(iterator) ? "tf" : "user"},
      {"chosen",
       {{"parallelism", or_null(stage.parallelism)},
        {"cycle_length", or_null(stage.cycle_length)},
        {"buffer_limit", or_null(stage.buffer_limit)}}},
      {"fill", fill_json(stage.fill)},
      {"binding", to_word(stage.binding)},
      {"reason", describe_binding(group, stage)},
  };
  json["history"] = std::move(histories);
  return json;
}

OrderedJson budget_json(const AutotuneGroup& group) {
  const AutotuneBudget& budget = group.budget;
  OrderedJson histories = OrderedJson::array();
  if (budget.root != kNoIterator) {
    for (const AttributeHistory& history : group.host.iterators[index_of(budget.root)].history.attributes) {
      histories.push_back(history_json(group.host, history));
    }
  }
  OrderedJson json = {
      {"cpu_cores", or_null(budget.cpu_cores)},
      {"threadpool_size", or_null(budget.threadpool_size)},
      {"intra_op_parallelism", or_null(budget.intra_op_parallelism)},
      {"algorithm", or_null(budget.algorithm)},
      {"ram_budget_mb", or_null(budget.ram_budget_mb)},
      {"buffered_mb", or_null(budget.buffered_mb)},
      {"machine_ram_used_mb", or_null(budget.machine_used_mb)},
      {"machine_ram_mb", or_null(budget.machine_ram_mb)},
  };
  json["history"] = std::move(histories);
  return json;
}

OrderedJson group_json(const AutotuneGroup& group) {
  const bool has_root = group.pipeline != nullptr && group.pipeline->root != kNoIterator;
  OrderedJson stages = OrderedJson::array();
  for (const AutotuneStage& stage : group.stages) stages.push_back(stage_json(group, stage));
  OrderedJson json = {
      {"id", group.pipeline != nullptr ? OrderedJson(group.id) : OrderedJson(nullptr)},
      {"host", host_name(group.host)},
      {"root",
       has_root ? OrderedJson(group.host.iterators[index_of(group.pipeline->root)].long_name) : OrderedJson(nullptr)},
  };
  json["budget"] = budget_json(group);
  json["stages"] = std::move(stages);
  return json;
}

std::string csv_value(const AttributeReading& reading) {
  return reading.number ? fmt::format("{}", *reading.number) : csv_field(reading.text);
}

}  // namespace

std::string render_autotune_json(const Measurements& measurements, const Diagnosis& diagnosis) {
  OrderedJson pipelines = OrderedJson::array();
  for (const AutotuneGroup& group : autotune_groups(measurements, diagnosis)) pipelines.push_back(group_json(group));
  OrderedJson page = {{"schema", "tfdata-doctor.autotune/1"}, {"tool", tool_json()}};
  page["pipelines"] = std::move(pipelines);
  return to_text(page);
}

std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::string text = "pipeline,long_name,attribute,first,last,min,mean,max,changes\n";
  for (const AutotuneGroup& group : autotune_groups(measurements, diagnosis)) {
    for (const IteratorId member : group.members) {
      const IteratorMeasurement& iterator = group.host.iterators[index_of(member)];
      for (const AttributeHistory& history : iterator.history.attributes) {
        const std::string numbers = history.number_count > 0
                                        ? fmt::format("{},{},{}", history.min, history.mean, history.max)
                                        : std::string(",,");
        text += fmt::format("{},{},{},{},{},{},{}\n", group.id, csv_field(iterator.long_name), csv_field(history.name),
                            csv_value(history.first), csv_value(history.last), numbers, history.change_count);
      }
    }
  }
  return text;
}

}  // namespace doctor
