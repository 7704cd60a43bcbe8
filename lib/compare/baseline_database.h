#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compare/baseline.h"

namespace doctor {

/// The first bytes of every SQLite database.
inline constexpr std::string_view kDatabaseMagic{"SQLite format 3\0", 16};

/// A baseline in an SQLite database: the table `runs` with a row for each, its summary as JSON. Readable by any program
/// that knows SQLite.
class BaselineDatabase {
 public:
  enum class Mode { read, change };

  /// Errors: no database, one of another program or of a newer version, one that is locked for too long.
  static Result<BaselineDatabase> open(const std::string& path, Mode mode);

  Result<std::vector<StoredRun>> runs();
  /// How many were new.
  Result<std::size_t> add(const std::vector<StoredRun>& runs);
  /// How many were taken out.
  Result<std::size_t> prune(std::size_t keep);

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  using Handle = std::unique_ptr<void, Close>;  // sqlite3, which only the source file knows

  BaselineDatabase(std::string path, Handle handle) : path_(std::move(path)), handle_(std::move(handle)) {}
  Result<void> prepare_tables();
  Unexpected failure(const std::string& what) const;
  Result<void> execute(const char* sql);

  std::string path_;
  Handle handle_;
  bool has_tables_ = true;  ///< else whoever began to make it was killed before
};

}  // namespace doctor
