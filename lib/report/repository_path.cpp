#include "report/repository_path.h"

#include <filesystem>

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardInput = "standard input";  // as the readers call it

/// "gs://bucket/file", "file:///file".
bool is_url(std::string_view path) {
  const std::size_t colon = path.find("://");
  return colon != std::string_view::npos && colon > 0 && path.find('/') > colon;
}

bool climbs(const fs::path& path) {
  return path.empty() || path == "." || path.is_absolute() || *path.begin() == "..";
}

}  // namespace

std::optional<std::string> repository_path(std::string_view path, std::string_view working_directory) {
  if (path.empty() || path == "-" || is_url(path) || path.ends_with('/')) return std::nullopt;
  fs::path relative = fs::path(path).lexically_normal();
  if (relative.is_absolute()) relative = relative.lexically_relative(fs::path(working_directory).lexically_normal());
  if (climbs(relative)) return std::nullopt;
  return relative.generic_string();
}

std::string trace_location(std::string_view path, std::string_view working_directory) {
  if (path.empty() || path == "-" || path == kStandardInput) return "standard-input";
  if (std::optional<std::string> relative = repository_path(path, working_directory)) return *std::move(relative);
  const std::string name = fs::path(path).filename().string();
  return name.empty() || name == "." || name == ".." ? "trace" : name;
}

}  // namespace doctor
