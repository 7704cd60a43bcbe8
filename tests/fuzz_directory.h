#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "fuzzing.h"

namespace doctor {

/// A folder of this process, in memory where the machine has such a place, that is gone when the process ends. Each
/// input finds it empty after clear().
class FuzzDirectory {
 public:
  FuzzDirectory() {
    std::error_code none;
    const std::filesystem::path shared = "/dev/shm";
    const bool is_shared = std::filesystem::is_directory(shared, none);
    std::string path = ((is_shared ? shared : std::filesystem::temp_directory_path()) / "doctor-fuzz-XXXXXX").string();
    expect(::mkdtemp(path.data()) != nullptr, "no folder can be made");
    path_ = path;
  }
  FuzzDirectory(const FuzzDirectory&) = delete;
  FuzzDirectory& operator=(const FuzzDirectory&) = delete;
  ~FuzzDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void clear() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
  const std::filesystem::path& path() const { return path_; }

  /// Writes a file below the folder; whether its name was one that a file may have.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace doctor
