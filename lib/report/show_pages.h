#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/tuning.h"
#include "measure/core_waits.h"
#include "measure/input_work.h"
#include "measure/measurements.h"
#include "measure/step_table.h"
#include "text/columns.h"
#include "text/data_table.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// Pages of `show`, each in a file of its own. Those of calls and timelines, which have types, have headers too.

// `show overview`: the overview page of the guide of TensorFlow's profiler. Measurements need their profiles.

/// What the overview and the input page show of the steps of all hosts.
struct StepOverview {
  std::vector<StepTable> hosts;  ///< indexed as Measurements::hosts
  StepSummary summary;
  std::string note;  ///< how the steps were determined
  /// Of the time of the steps where there are any, else of the verdict; nullopt where no GetNext was seen.
  std::optional<double> input_share;
  /// Why the verdict's share differs, for a person; empty if the two are about the same.
  std::string verdict_note;
};

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis);

/// `step_time` of the JSON pages.
OrderedJson step_time_json(const StepSummary& summary);

std::string render_overview_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The same as `tfdata-doctor.overview/1`.
OrderedJson overview_json(const Measurements& measurements, const Diagnosis& diagnosis);

// `show input`: the input pipeline analyzer of the guide of TensorFlow's profiler. Measurements need their profiles.

/// The word of the schema, e.g. "read_on_demand".
std::string_view to_word(InputWork work);

/// A row for each iterator and each kind of op that moves data to a device, the one that works most first: its self
/// time and what its functions do on other threads. Waiting for other threads is not work and has a column of its own.
DataTable input_table(const Measurements& measurements);

/// What is above the table: the input-bound share, the steps, and what the host spends its time on.
std::string input_summary_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as a page of JSON with the rows of the table.
OrderedJson input_json(const Measurements& measurements, const Diagnosis& diagnosis, const DataTable& table);

// `show tree`.

/// The iterator trees with their times, pipelines in the order of the judgement; roots that no call of a consumer was
/// seen of come last.
std::string render_tree_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style = {});

/// The same as `tfdata-doctor.tree/2`: the array `pipelines` of the report, and `other_iterators`.
OrderedJson tree_json(const Measurements& measurements, const Diagnosis& diagnosis);

// `show autotune`: what the stages of each pipeline were given and chose.

/// A table for each pipeline, and its budgets.
std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as `tfdata-doctor.autotune/1`, with the histories of all attributes.
OrderedJson autotune_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// "RAM: 10,527 MB for buffers, 0 MB in them at the end, ...", a line; empty if the trace says nothing of it.
std::string ram_line(const AutotuneBudget& budget);

/// One line for each attribute of each iterator, with a header.
std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis);

// `show hosts`: the hosts of a run side by side, and the waits of its cores in each step. Measurements need their
// profiles.

/// A row for each host, the one that waits most first.
DataTable hosts_table(const Measurements& measurements, const Diagnosis& diagnosis);

/// The steps of the run on its cores; none of windows of one host, which number other steps alike.
std::vector<StepOnCores> steps_in_common(const Measurements& measurements, const Diagnosis& diagnosis);

/// A row for each step: the least, the mean and the most over its cores of the time that it takes and of the wait for
/// input within it, as in the device-side details of the profiler's input-pipeline analyzer.
DataTable core_waits_table(const std::vector<StepOnCores>& steps);

/// What the cores of that table are; why it has no rows, if so.
std::string core_waits_note(const std::vector<StepOnCores>& steps);

/// Both tables as a page of JSON.
OrderedJson hosts_json(const DataTable& hosts, const DataTable& core_waits, const Diagnosis& diagnosis);

/// The word of the schema for a part of a step, e.g. "kernel_launch".
std::string_view to_word(StepPart part);

/// How the steps were determined, as a sentence for a person.
std::string_view describe(StepSource source);
/// The same as a word of the schema.
std::string_view to_word(StepSource source);

/// How the steps of these hosts were determined.
std::string step_note(const Measurements& measurements);

/// Of all hosts.
std::size_t step_count(const Measurements& measurements);

/// `show steps`: a row for each step of each host, in order of time; only the first `most_rows`, because half a million
/// steps, which a trace of 25 MB can have, are 300 MB of cells.
DataTable steps_table(const Measurements& measurements, std::size_t most_rows);

enum class OpGrouping : std::uint8_t { name, type };

/// `show ops`: what each op cost on the hosts and on the devices, all hosts together. Measurements need their profiles.
struct OpsChoice {
  OpGrouping by = OpGrouping::name;
  bool with_iterators = true;
  bool with_idle = false;  ///< a row IDLE for each side, and shares of the time with it
};

/// Most self time first, the devices' ops before the hosts', as the guide's tool has them. Each side has shares of its
/// own self time.
DataTable ops_table(const Measurements& measurements, const OpsChoice& choice);

/// `show kernels`: every kernel that ran on a GPU, apart by how it was launched and for which op, all devices and hosts
/// together. Most total time first.
DataTable kernels_table(const Measurements& measurements);

/// Why the table is empty, for a person; empty if it is not.
std::string kernels_note(const Measurements& measurements);

// `show memory`: what the allocators of the devices gave, what was held at the peak, and the elements that tf.data
// keeps in its buffers. Measurements need their profiles; with the histories of attributes, buffers have their largest
// values.

/// `top`: how many rows of what is held at the peak of each allocator; nullopt: all. Likewise below.
std::string render_memory_text(const Measurements& measurements, const Diagnosis& diagnosis,
                               std::optional<std::size_t> top, PageWidth width = {});

/// The same as `tfdata-doctor.memory/1`, with the timelines.
OrderedJson memory_json(const Measurements& measurements, const Diagnosis& diagnosis, std::optional<std::size_t> top);

/// A line for each kind of allocation at the peak, and for each buffer.
std::string render_memory_csv(const Measurements& measurements, const Diagnosis& diagnosis,
                              std::optional<std::size_t> top);

}  // namespace doctor
