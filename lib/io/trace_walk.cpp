#include "io/trace_walk.h"

#include <algorithm>
#include <utility>

namespace doctor {

std::optional<Result<std::string>> TraceWalk::next() {
  while (files_.empty()) {
    std::vector<std::filesystem::path>& source = folders_.empty() ? linked_ : folders_;
    if (source.empty()) return std::nullopt;
    const std::filesystem::path here = std::move(source.back());
    source.pop_back();
    if (!entered_.enter(here)) continue;
    const Result<TraceFolder> folder = read_trace_folder(here);
    if (!folder) return Unexpected(folder.error());
    for (std::string& file : richest_files(here, folder->traces)) files_.push_back(std::move(file));
    for (const auto& [names, pending] :
         {std::pair(&folder->folders, &folders_), std::pair(&folder->linked_folders, &linked_)}) {
      std::for_each(names->rbegin(), names->rend(), [&](const std::string& name) { pending->push_back(here / name); });
    }
  }
  Result<std::string> file = std::move(files_.front());
  files_.pop_front();
  return file;
}

}  // namespace doctor
