#include "io/trace_walk.h"

#include <algorithm>
#include <array>
#include <utility>

namespace doctor {
namespace {

/// The first name is the next one to be entered.
void add_folders(const std::filesystem::path& here, const std::vector<std::string>& names,
                 std::vector<std::filesystem::path>& pending) {
  std::for_each(names.rbegin(), names.rend(), [&](const std::string& name) { pending.push_back(here / name); });
}

}  // namespace

bool may_be_trace(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEndings = {".json", ".json.gz", ".pb", ".pb.gz"};
  return !name.starts_with('.') &&
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

void PassedOver::add(std::string path) {
  constexpr std::size_t kMostNamed = 3;
  if (count++ < kMostNamed) first.push_back(std::move(path));
}

void TraceWalk::take_others(const std::filesystem::path& here, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string path = (here / name).string();
    if (may_be_trace(name)) {
      files_.push_back(std::move(path));
    } else {
      passed_over_->add(std::move(path));
    }
  }
}

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
    if (passed_over_ != nullptr) take_others(here, folder->other_files);
    add_folders(here, folder->folders, folders_);
    add_folders(here, folder->linked_folders, linked_);
  }
  Result<std::string> file = std::move(files_.front());
  files_.pop_front();
  return file;
}

}  // namespace doctor
