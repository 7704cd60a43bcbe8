#pragma once

#include <ctime>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// A URL in its parts: "abfs://container@account.dfs.core.windows.net/logs/run".
struct RemotePath {
  std::string url;
  std::string scheme;   ///< "abfs://"
  std::string bucket;   ///< "container", without an account
  std::string account;  ///< of Azure; empty: what the command has as its default
  std::string root;     ///< the URL up to the slash before `key`
  std::string key;      ///< "logs/run"
};

/// Whether a text is a URL of a scheme that is read: gs://, s3://, az://, abfs(s)://, hf://.
bool is_url(std::string_view text);

/// Takes a URL apart. Errors: no bucket, or characters that a program might take for more than a name.
Result<RemotePath> parse_url(std::string url);

/// A file that a listing names.
struct RemoteFile {
  std::string url;
  std::uint64_t bytes = 0;
  std::time_t changed = 0;
};

/// Lists and reads URLs with another program, the first one of a table that is there: the cloud's own command, or
/// Python with fsspec. Programs are run without a shell, and get URLs that cannot be taken for an option.
class RemoteReader {
 public:
  /// Programs start in `folder`. `is_told`: what is run is printed to standard error.
  RemoteReader(std::string folder, bool is_told) : folder_(std::move(folder)), is_told_(is_told) {}

  /// The file that a URL denotes, or all files below it; none where there is nothing. Errors: nothing can list it, or
  /// it failed; the listing is too long.
  Result<std::vector<RemoteFile>> list(const RemotePath& path) const;

  /// Hands over the bytes of a file as they come. Errors: nothing can read it, or it failed; what `take` returns.
  Result<void> read(const RemotePath& path, const std::function<Result<void>(std::string_view)>& take) const;

 private:
  std::string folder_;
  bool is_told_ = false;
};

}  // namespace doctor
