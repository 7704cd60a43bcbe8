#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "convert/event_columns.h"
#include "convert/event_writer.h"
#include "trace/event_reader.h"

namespace doctor {

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
