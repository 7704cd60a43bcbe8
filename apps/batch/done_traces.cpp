#include "batch/done_traces.h"

#include "text/json_page.h"
#include "text/utf8.h"

namespace doctor {

void DoneTraces::add(const std::string& path_in_row) {
  paths_.add(path_in_row);
  if (path_in_row.find(kReplacementCharacter) != std::string::npos) ++inexact_[path_in_row];
}

bool DoneTraces::take(const std::string& path) {
  if (paths_.contains(path)) return true;
  const auto rows =
      inexact_.empty() ? inexact_.end() : inexact_.find(OrderedJson::parse(to_line(path)).get<std::string>());
  if (rows == inexact_.end() || rows->second == 0) return false;
  --rows->second;
  return true;
}

}  // namespace doctor
