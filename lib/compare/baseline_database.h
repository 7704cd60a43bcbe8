#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compare/baseline.h"
#include "io/sqlite.h"

namespace doctor {

/// A baseline in an SQLite database: the table `runs` with a row for each, its summary as JSON. Readable by any program
/// that reads SQLite.
class BaselineDatabase {
 public:
  /// Errors: no database, one of another program or of a newer version, one that is locked for too long.
  static Result<BaselineDatabase> open(const std::string& path, DatabaseMode mode);

  Result<std::vector<StoredRun>> runs();
  /// How many were new.
  Result<std::size_t> add(const std::vector<StoredRun>& runs);
  /// How many were taken out.
  Result<std::size_t> prune(std::size_t keep);

 private:
  BaselineDatabase(std::string path, Database database) : path_(std::move(path)), database_(std::move(database)) {}
  Result<void> prepare_tables();
  Unexpected failure(const std::string& what) const;
  Result<void> change(const std::string& sql);

  std::string path_;
  Database database_;
  bool has_tables_ = true;  ///< else whoever began to make it was killed before
};

}  // namespace doctor
