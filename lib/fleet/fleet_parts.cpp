#include <fmt/format.h>
#include <simdjson.h>

#include "base/try.h"
#include "fleet/fleet_counter.h"
#include "text/json_page.h"

namespace doctor {
namespace {

namespace dom = simdjson::dom;

/// How each line begins; what follows is the kind of part.
constexpr std::string_view kStart = R"({"schema":"tfdata-doctor.fleet-part/1","part":")";

/// A line has so many jobs at most: others of a group are in lines that add nothing else.
constexpr std::size_t kMostJobs = 100'000;

// One function for each kind of part names its members, for whatever writes and reads them.

template <typename Visit, typename Saving>
void visit_saving(Visit& visit, Saving& saving) {
  visit("predicted", saving.traces);
  visit("conditional", saving.conditional_traces);
  visit("saved_ns", saving.ns);
  visit("saved_low_ns", saving.low_ns);
}

template <typename Visit, typename Row>
void visit_run(Visit& visit, Row& row) {
  visit("path", row.file.path);
  visit("recorded_ns", row.recorded_ns);
  visit("step_us", row.step_p50_us);
  visit("verdict", row.verdict);
  visit("input_share", row.input_share);
  visit("culprit_dataset", row.culprit_dataset);
  visit("limiting_resource", row.limiting_resource);
  visit("culprit_source", row.culprit_source);
  visit("signature", row.signature);
}

/// Spells one line.
class PartWriter {
 public:
  explicit PartWriter(std::string_view kind) : kind_(kind) {}

  template <typename Value>
  void operator()(const char* name, const Value& value) {
    json_[name] = json_of(value);
  }

  std::string line() const { return fmt::format("{}{}\",{}\n", kStart, kind_, to_line(json_).substr(1)); }

 private:
  template <typename Value>
  static OrderedJson json_of(const Value& value) {
    if constexpr (std::is_same_v<Value, std::optional<double>>) {
      return or_null(value);
    } else if constexpr (requires { value.get_next_p50_us; }) {
      return OrderedJson::array({value.hash, value.recorded_ns, value.input_share, value.get_next_p50_us});
    } else if constexpr (requires { value.begin()->get_next_p50_us; }) {
      return array_of(value, [](const auto& recording) { return json_of(recording); });
    } else {
      return OrderedJson(value);
    }
  }

  std::string_view kind_;
  OrderedJson json_ = OrderedJson::object();
};

/// Reads the members of one line.
class PartReader {
 public:
  explicit PartReader(dom::object object) : object_(object) {}

  template <typename Value>
  void operator()(const char* name, Value& value) {
    dom::element element;
    is_sound_ = is_sound_ && object_.at_key(name).get(element) == simdjson::SUCCESS && take(element, value);
  }

  bool is_sound() const { return is_sound_; }

 private:
  template <typename Value>
  static bool take(dom::element element, Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      return element.get(value) == simdjson::SUCCESS;
    } else if constexpr (std::is_same_v<Value, std::string>) {
      std::string_view text;
      const bool is_text = element.get(text) == simdjson::SUCCESS;
      value = text;
      return is_text;
    } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
      return element.is_null() || take(element, value.emplace());
    } else if constexpr (requires { value.get_next_p50_us; }) {
      return take_at(element, 0, value.hash) && take_at(element, 1, value.recorded_ns) &&
             take_at(element, 2, value.input_share) && take_at(element, 3, value.get_next_p50_us);
    } else if constexpr (requires { typename Value::mapped_type; }) {
      return take_members(element, value);
    } else {
      return take_items(element, value);
    }
  }

  template <typename Value>
  static bool take_at(dom::element element, std::size_t index, Value& value) {
    dom::element item;
    return element.at(index).get(item) == simdjson::SUCCESS && take(item, value);
  }

  template <typename Map>
  static bool take_members(dom::element element, Map& values) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return false;
    return std::all_of(object.begin(), object.end(), [&](const dom::key_value_pair& member) {
      return take(member.value, values[std::string(member.key)]);
    });
  }

  /// Of a list, or a set.
  template <typename Values>
  static bool take_items(dom::element element, Values& values) {
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return false;
    return std::all_of(array.begin(), array.end(), [&](dom::element item) {
      typename Values::value_type value{};
      const bool is_sound = take(item, value);
      values.insert(values.end(), std::move(value));
      return is_sound;
    });
  }

  dom::object object_;
  bool is_sound_ = true;
};

Unexpected not_a_part() {
  return fail("is not sums that 'fleet --partial' writes", {}, "write them anew");
}

/// The members of a line, for as long as no other is read.
Result<PartReader> reader_of(std::string_view line) {
  thread_local dom::parser parser;
  dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) return not_a_part();
  return PartReader(object);
}

}  // namespace

std::string_view kind_of_part(std::string_view line) {
  if (!line.starts_with(kStart)) return {};
  line.remove_prefix(kStart.size());
  return line.substr(0, line.find('"'));
}

std::string end_of_parts(std::uint64_t lines) {
  PartWriter writer("end");
  writer("lines", lines);
  return writer.line();
}

bool is_end_of_parts(std::string_view line, std::uint64_t lines) {
  Result<PartReader> reader = reader_of(line);
  std::uint64_t said = 0;
  if (reader) (*reader)("lines", said);
  return reader && reader->is_sound() && said == lines;
}

std::string render_run(const TraceRow& row, std::uint64_t hash) {
  PartWriter writer("run");
  writer("row", hash);
  visit_run(writer, row);
  return writer.line();
}

Result<FleetRun> parse_run(std::string_view line) {
  ASSIGN_OR_RETURN(PartReader reader, reader_of(line));
  FleetRun run;
  reader("row", run.hash);
  visit_run(reader, run.row);
  return reader.is_sound() ? Result<FleetRun>(std::move(run)) : not_a_part();
}

template <typename Visit, typename AnyGroup>
void FleetCounter::visit_group(Visit& visit, AnyGroup& group) {
  visit("traces", group.traces);
  visit("lost_ns", group.lost_ns);
  visit_saving(visit, group.saved);
  visit("most_lost_ns", group.most_lost_ns);
  visit("example", group.example);
}

template <typename Visit, typename AnyPipeline>
void FleetCounter::visit_pipeline(Visit& visit, AnyPipeline& pipeline) {
  visit_group(visit, pipeline.group);
  visit("dated_traces", pipeline.dated_traces);
  visit("first", pipeline.first);
  visit("last", pipeline.last);
  visit("sample", pipeline.sample);
}

template <typename Visit, typename AnyFleet>
void FleetCounter::visit_fleet(Visit& visit, AnyFleet& fleet) {
  visit("grouped_by", fleet.grouped_by);
  visit("rows", fleet.rows);
  visit("repeated", fleet.repeated);
  visit("not_rows", fleet.not_rows);
  visit("first_not_row", fleet.first_not_row);
  visit("window_ns", fleet.window_ns);
  visit("lost_ns", fleet.lost_ns);
  visit_saving(visit, fleet.saved);
  visit("verdicts", fleet.verdicts);
}

std::vector<std::string> FleetCounter::parts() const {
  std::vector<std::string> lines;
  const auto write = [&](std::string_view kind, const std::vector<std::string>& key, const Jobs& jobs,
                         auto visit_sums) {
    std::vector<std::uint64_t> sorted(jobs.begin(), jobs.end());
    std::ranges::sort(sorted);
    for (std::size_t begin = 0; begin == 0 || begin < sorted.size(); begin += kMostJobs) {
      PartWriter writer(kind);
      writer("key", key);
      const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kMostJobs, sorted.size() - begin));
      writer("jobs", std::vector<std::uint64_t>(first, first + count));
      visit_sums(writer, begin == 0);
      lines.push_back(writer.line());
    }
  };
  const auto write_group = [&](std::string_view kind, const std::vector<std::string>& key, const Group& group) {
    write(kind, key, group.jobs, [&](PartWriter& writer, bool is_first) {
      const Group nothing;
      visit_group(writer, is_first ? group : nothing);
    });
  };
  write("fleet", {}, jobs_, [&](PartWriter& writer, bool is_first) {
    Fleet fleet = is_first ? fleet_ : Fleet();
    fleet.grouped_by = grouping_.name();
    visit_fleet(writer, fleet);
  });
  for (std::size_t cause = 0; cause < kCauses.size(); ++cause) {
    for (const auto& [names, group] : causes_[cause]) write_group(kCauses[cause].first, names, group);
  }
  for (const auto& [key, counted] : pipelines_) {
    const Pipeline& pipeline = counted;  // clang 14 captures no structured binding
    write("pipeline", {key}, pipeline.group.jobs, [&](PartWriter& writer, bool is_first) {
      const Pipeline nothing;
      visit_pipeline(writer, is_first ? pipeline : nothing);
    });
  }
  return lines;
}

Result<void> FleetCounter::add_part(std::string_view line) {
  const std::string_view kind = kind_of_part(line);
  if (kind == "run") {
    ASSIGN_OR_RETURN(const FleetRun run, parse_run(line));
    steps_.add(run.row, run.hash);
    return {};
  }
  ASSIGN_OR_RETURN(PartReader reader, reader_of(line));
  std::vector<std::string> key;
  Pipeline pipeline;
  Fleet fleet;
  reader("key", key);
  reader("jobs", pipeline.group.jobs);
  if (kind == "fleet") {
    visit_fleet(reader, fleet);
  } else if (kind == "pipeline") {
    visit_pipeline(reader, pipeline);
  } else {
    visit_group(reader, pipeline.group);
  }
  if (!reader.is_sound()) return not_a_part();
  if (kind == "fleet" && fleet.grouped_by != grouping_.name()) {
    return fail("has groups by '" + fleet.grouped_by + "'", {}, "name the same --group-by as for --partial");
  }
  const Group& group = pipeline.group;
  const auto is_of = [&](std::string_view name, std::size_t names) { return kind == name && key.size() == names; };
  if (is_of("fleet", 0)) {
    merge(fleet, group.jobs);
    return {};
  }
  if (is_of("pipeline", 1)) {
    merge(pipelines_[key[0]], pipeline);
    return {};
  }
  for (std::size_t cause = 0; cause < kCauses.size(); ++cause) {
    if (!is_of(kCauses[cause].first, kCauses[cause].second)) continue;
    merge(causes_[cause][key], group);
    return {};
  }
  return not_a_part();
}

}  // namespace doctor
