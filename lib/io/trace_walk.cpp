#include "io/trace_walk.h"

#include <algorithm>
#include <utility>

namespace doctor {
namespace {

/// The first name is the next one to be entered.
void add_folders(const std::filesystem::path& here, const std::vector<std::string>& names,
                 std::vector<std::filesystem::path>& pending) {
  std::for_each(names.rbegin(), names.rend(), [&](const std::string& name) { pending.push_back(here / name); });
}

}  // namespace

std::optional<Result<std::string>> TraceWalk::next() {
  while (files_.empty()) {
    std::vector<std::filesystem::path>& source = folders_.empty() ? linked_ : folders_;
    if (source.empty()) return std::nullopt;
    const std::filesystem::path here = std::move(source.back());
    source.pop_back();
    if (!entered_.enter(here)) continue;
    const Result<TraceFolder> folder = read_trace_folder(here);
    if (!folder) return Unexpected(folder.error());
    for (std::string& file : most_complete_files(here, folder->traces)) files_.push_back(std::move(file));
    for (const std::string& name : folder->broken_links) files_.push_back((here / name).string());
    add_folders(here, folder->folders, folders_);
    add_folders(here, folder->linked_folders, linked_);
  }
  Result<std::string> file = std::move(files_.front());
  files_.pop_front();
  return file;
}

}  // namespace doctor
