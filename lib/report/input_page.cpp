#include "measure/measurements.h"
#include "report/json_values.h"
#include "report/page.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

struct WorkWords {
  std::string_view key;
  std::string_view title;
};

/// Indexed by InputWork.
constexpr std::array<WorkWords, kInputWorkCount> kWorks = {{{"read_on_demand", "reading data on demand"},
                                                            {"read_in_advance", "reading data in advance"},
                                                            {"preprocessing", "preprocessing"},
                                                            {"enqueue", "handing data to the device"},
                                                            {key::other, "other"}}};

struct InputOp {
  std::string name;
  std::uint64_t count = 0;
  Picoseconds total = 0;
  Picoseconds self = 0;
  Picoseconds function = 0;
  Picoseconds wait = 0;
  InputWork category = InputWork::other;

  Picoseconds work() const { return self + function; }
};

/// Ops that hand data to a device: infeed, and copies that the host makes.
bool is_enqueue(const OpStatistics& op) {
  return op.type.find("InfeedEnqueue") != std::string::npos || op.type == "MemcpyHToD";
}

std::vector<InputOp> input_ops(const Measurements& measurements) {
  std::map<std::string, InputOp> ops;
  const auto add = [&](const InputOp& more) {
    InputOp& op = ops[more.name];
    op.name = more.name;
    op.count += more.count;
    op.total += more.total;
    op.self += more.self;
    op.function += more.function;
    op.wait += more.wait;
    op.category = more.category;
  };
  for (const HostMeasurement& host : measurements.hosts) {
    for (const IteratorMeasurement& iterator : host.iterators) {
      if (iterator.calls == 0 && iterator.function == 0) continue;
      add({iterator.long_name, iterator.calls, iterator.total, iterator.self, iterator.function, iterator.wait,
           work_of(host, iterator)});
    }
    if (!host.profile) continue;
    for (const OpStatistics& op : host.profile->ops.ops) {
      if (is_enqueue(op)) add({op.name, op.occurrences, op.total, op.self, 0, 0, InputWork::enqueue});
    }
  }
  std::vector<InputOp> sorted;
  for (auto& [name, op] : ops) sorted.push_back(std::move(op));
  std::ranges::stable_sort(sorted, [](const InputOp& a, const InputOp& b) { return a.work() > b.work(); });
  return sorted;
}

struct WorkTimes {
  std::array<Picoseconds, kInputWorkCount> times{};  ///< indexed by InputWork
  Picoseconds work = 0;                              ///< all of them
  Picoseconds in_calls = 0;  ///< every moment of every call once, waiting included: no row's total is longer
};

WorkTimes work_times(const std::vector<InputOp>& ops) {
  WorkTimes result;
  for (const InputOp& op : ops) {
    result.times[static_cast<std::size_t>(op.category)] += op.work();
    result.work += op.work();
    result.in_calls += op.self + op.wait;
  }
  return result;
}

/// At most 1: calls of an iterator inside of its own calls count twice in its total.
double share_of(Picoseconds part, Picoseconds whole) {
  return std::min(1.0, share_of_time(part, whole));
}

std::string_view to_word(InputWork work) {
  return kWorks[static_cast<std::size_t>(work)].key;
}

/// A row for each iterator and each kind of op that moves data to a device, the one that works most first: its self
/// time and what its functions do on other threads. Waiting for other threads is not work and has a column of its own.
DataTable input_table(const Measurements& measurements) {
  const std::vector<InputOp> ops = input_ops(measurements);
  const WorkTimes all = work_times(ops);
  const std::vector<Field<InputOp>> fields = {
      {{key::input_op, "input op", ColumnKind::text}, &InputOp::name},
      {{key::count, "calls", ColumnKind::count, false, 3}, [](const auto& op) { return count_cell(op.count); }},
      {{key::total_us, "total", ColumnKind::time, false, 2}, &InputOp::total},
      {{key::total_share, "of all calls", ColumnKind::share, false, 4},
       [&](const auto& op) { return share_of(op.total, all.in_calls); }},
      {{key::self_us, "self", ColumnKind::time}, &InputOp::self},
      {{key::function_us, "function", ColumnKind::time}, &InputOp::function},
      {{key::work_share, "of all work", ColumnKind::share},
       [&](const auto& op) { return share_of(op.work(), all.work); }},
      {{key::wait_us, "waiting", ColumnKind::time, false, 3}, &InputOp::wait},
      {{key::category, "category", ColumnKind::text, false, 1},
       [](const auto& op) { return std::string(to_word(op.category)); }}};
  return table_of(fields, ops);
}

Result<PageRows> input_rows(const PageInput& input) {
  return chosen_rows(input.options, {input_table(input.measurements)});
}

/// What is above the table: the verdict, the steps, and what the host spends its time on.
std::string input_summary_text(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const WorkTimes work = work_times(input_ops(measurements));
  std::string parts;
  for (std::size_t index = 0; index < kInputWorkCount; ++index) {
    if (work.times[index] == 0) continue;
    parts += fmt::format("{}{} {} ({})", parts.empty() ? "" : ", ", kWorks[index].title, format_time(work.times[index]),
                         format_share(share_of(work.times[index], work.work)));
  }
  TextPage page(options.style.color, options.style.width);
  page.row("Verdict", summarize(measurements, diagnosis));
  add_step_time(step_overview(measurements, diagnosis), page);
  page.row("Host", parts.empty() ? "no work of tf.data was seen" : parts);
  if (!parts.empty()) {
    page.row("Host", "work is self time and function: ops that an iterator's function ran on other threads");
  }
  return page.take();
}

Result<std::string> input_text(const PageInput& input) {
  return input_rows(input).map([&](const PageRows& rows) {
    return input_summary_text(input) + "\n" + rows_text(rows, input.options.style.width);
  });
}

OrderedJson input_json(const PageInput& input, const DataTable& table) {
  const StepOverview overview = step_overview(input.measurements, input.diagnosis);
  const WorkTimes work = work_times(input_ops(input.measurements));
  OrderedJson host = OrderedJson::object();
  for (std::size_t index = 0; index < kInputWorkCount; ++index) {
    host[std::string(kWorks[index].key) + "_us"] = to_microseconds(work.times[index]);
  }
  OrderedJson page = begun_page("tfdata-doctor.input/1");
  page[key::summary] = summarize(input.measurements, input.diagnosis);
  page[key::input_share] = or_null(overview.input_share);
  page[key::step_time] = step_time_json(overview.summary);
  page[key::host] = std::move(host);
  page[key::rows] = table_json(table);
  return page;
}

}  // namespace

constinit const Page kInputPage = {
    .name = "input",
    .summary = "the input pipeline: its share of the steps, each iterator's time and category",
    .needs = need_whole_profile,
    .rows = input_rows,
    .text = input_text,
    .document = [](const PageInput& input) {
      return input_rows(input).map([&](const PageRows& rows) { return input_json(input, rows.table); });
    }};

}  // namespace doctor
