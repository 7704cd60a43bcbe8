#include "process/current_work.h"

#include <unistd.h>

#include "process/log_sink.h"
#include "process/output.h"
#include "process/progress.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kLongestShown = 1'000;

}  // namespace

CurrentWork& current_work() {
  static CurrentWork work;
  return work;
}

void name_current_files(const std::vector<std::string>& files) {
  std::vector<std::string>& names = current_work().file_names;
  names.clear();
  for (const std::string& file : files) names.push_back(clip(for_log(escape_for_terminal(file)), kLongestShown));
}

// Counts of up to 15 characters, as these are, fit into a string without memory from the heap.
void add_place(FixedText& text) {
  const CurrentWork& work = current_work();
  const std::string_view stage = work.progress.stage.load();
  text.add(activity_of(stage));
  const std::size_t index = work.progress.file_index;
  if (!is_about_one_file(stage) || index >= work.file_names.size()) return;
  text.add(stage == "build tree" ? " of " : " ");
  text.add(work.file_names[index]);
  text.add(", ");
  const BytesDone bytes = in_one_unit(work.progress.bytes_before + work.progress.bytes_read, work.progress.bytes_total);
  text.add(format_count(bytes.done));
  if (bytes.total) {
    text.add(" of ");
    text.add(format_count(*bytes.total));
  }
  text.add(" ");
  text.add(bytes.unit);
  text.add(" read");
}

void end_with(const FixedText& text) {
  print_last_note(text.view());
  // Not exit(): other threads are still at work on what it would destroy.
  ::_exit(kExitFailure);
}

}  // namespace doctor
