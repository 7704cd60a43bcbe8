#pragma once

#include "convert/event_writer.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"

namespace doctor {

/// The columns of an event in the formats with one event a line, in this order. Keys and types are fixed, because
/// tables of a warehouse are made of them.
struct EventColumns {
  std::string_view file;
  std::string_view host;     ///< empty if the trace does not say
  std::string_view process;  ///< "/host:CPU", "/device:GPU:0"
  std::string_view thread;
  std::int64_t pid = 0;  ///< as in the file
  std::int64_t tid = 0;
  std::string_view name;                     ///< the short name if there are two
  std::string_view long_name;                ///< equal to `name` if there is only one
  std::string_view op_type;                  ///< "MatMul" of the op "dense/MatMul:MatMul"; empty for other events
  std::int64_t origin_ns = 0;                ///< the origin of start_us, in nanoseconds since 1970 in practice
  Picoseconds start = 0;                     ///< written as start_us
  Picoseconds duration = 0;                  ///< written as duration_us
  std::optional<std::uint64_t> iterator_id;  ///< of a GetNext call of an iterator; written as text
  std::optional<std::uint64_t> parent_id;    ///< likewise
};

/// The names of the columns; the last one, `args`, is not in EventColumns.
inline constexpr std::string_view kEventColumnNames[] = {
    "file",    "host",      "process",  "thread",      "pid",         "tid",       "name", "long_name",
    "op_type", "origin_ns", "start_us", "duration_us", "iterator_id", "parent_id", "args"};

/// The columns of an event. Views live as long as the event and the file.
EventColumns columns_of(const EventFile& file, const TraceEvent& event);

// The same in parts, for writers that spell once what many rows share.

/// The columns that the events of a thread share: up to `tid`.
EventColumns thread_columns_of(const EventFile& file, const TraceEvent& event);
/// Adds the columns that events of a name share: `name` to `op_type`. Returns the kind of these events.
EventKind add_name_columns(const TraceEvent& event, EventColumns& columns);
/// Adds the columns of an iterator's event: `iterator_id` and `parent_id`.
void add_iterator_columns(const TraceEvent& event, EventColumns& columns);

/// The text that rows of events with one name share.
struct SpelledName {
  std::string text;  ///< `name` to `op_type`, and what the format has after them
  bool is_iterator = false;
};

/// The beginning of a thread's rows: the columns up to `tid`, which are the same in each. Events come thread by thread,
/// so it is spelled once for many.
class ThreadPrefix {
 public:
  /// Tests whether the spelled text is that of this line, which may have got its name since.
  bool is_of(const EventLine& line) const {
    return line_ == &line && line.id == id_ && line.plane->id == plane_id_ && line.name == name_ &&
           line.plane->name == plane_name_ && line.plane->host == host_;
  }
  const std::string& spelled() const { return spelled_; }

  /// Begins the text of another line; the caller appends to the result.
  std::string& begin(const EventLine& line);

 private:
  const EventLine* line_ = nullptr;
  std::uint64_t id_ = 0;
  std::uint64_t plane_id_ = 0;
  std::string name_;
  std::string plane_name_;
  std::string host_;
  std::string spelled_;
};

/// Spells the events of a file, each as a row of its own.
class SpelledRows {
 public:
  explicit SpelledRows(const EventFile& file) : file_(file) {}
  SpelledRows(const SpelledRows&) = delete;
  SpelledRows& operator=(const SpelledRows&) = delete;
  virtual ~SpelledRows() = default;

  virtual void append(const TraceEvent& event, std::string& text) = 0;

 protected:
  const EventFile& file_;
  ThreadPrefix thread_;
  NameMemo<SpelledName> names_;
};

using MakeRows = std::function<std::unique_ptr<SpelledRows>(const EventFile& file)>;

/// Writes a document of `head` and a row for each event. Threads may spell rows at once.
std::unique_ptr<EventWriter> row_writer(OutputBuffer& output, std::string_view head, MakeRows make_rows);

}  // namespace doctor
