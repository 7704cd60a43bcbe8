#include "fleet/trace_run.h"

#include <filesystem>

namespace doctor {

std::string job_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::filesystem::path profile = folder.parent_path();
  const bool is_run = profile.filename() == "profile" && profile.parent_path().filename() == "plugins";
  const std::string job = (is_run ? profile.parent_path().parent_path() : folder).string();
  return job.empty() ? "." : job;
}

}  // namespace doctor
