#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/try.h"
#include "config/config.h"
#include "io/path_error.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

}  // namespace

std::optional<std::string> find_config_file(const std::string& directory) {
  std::error_code ignored;  // a directory that may not be looked into holds nothing for us
  for (fs::path folder = directory; !folder.empty(); folder = folder.parent_path()) {
    const fs::path file = folder / kConfigFileName;
    if (fs::is_regular_file(file, ignored)) return file.string();
    if (fs::exists(folder / ".git", ignored) || folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

Result<std::string> read_config_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail("is a directory, not a configuration file", path);
  RETURN_IF_ERROR(check_that_it_ends(path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMostBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() == 0 && (!file.eof() || file.bad())) {
    return fail(std::string("cannot be read: ") + std::strerror(errno), path);
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.size() > kMostBytes) return fail("is too large for a configuration file (more than 1 MiB)", path);
  return bytes;
}

}  // namespace doctor
