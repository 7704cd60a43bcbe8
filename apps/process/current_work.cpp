#include "process/current_work.h"

#include <cstddef>

#include "process/log_sink.h"
#include "text/columns.h"
#include "text/escape.h"

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

}  // namespace doctor
