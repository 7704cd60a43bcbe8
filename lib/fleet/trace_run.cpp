#include "fleet/trace_run.h"

#include <filesystem>
#include <string_view>

#include "text/numbers.h"

namespace doctor {

std::string job_of(const std::string& path) {
  const std::filesystem::path run = run_folder_of(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string job = (run.empty() ? folder : run.parent_path().parent_path().parent_path()).string();
  return job.empty() ? "." : job;
}

std::string run_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::filesystem::path profile = folder.parent_path();
  const bool is_run = profile.filename() == "profile" && profile.parent_path().filename() == "plugins";
  return is_run ? folder.string() : std::string();
}

std::int64_t time_of_run_folder(const std::string& folder) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  std::string name = std::filesystem::path(folder).filename().string();
  if (name.size() != kForm.size()) return 0;
  for (std::size_t index = 0; index < kForm.size(); ++index) {
    if (kForm[index] == '0') continue;
    if (name[index] != '_') return 0;
    name[index] = kForm[index];
  }
  return parse_timestamp(name + "Z").value_or(0);
}

}  // namespace doctor
