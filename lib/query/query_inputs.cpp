#include <memory>
#include <set>
#include <utility>

#include "base/try.h"
#include "fleet/row_file.h"
#include "io/byte_source.h"
#include "io/file_io.h"
#include "query/load_inputs.h"

namespace doctor {
namespace {

Result<QueryInput> examine(std::string path, std::string name, bool wants_digest) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, open_source(path));
  QueryInput input{std::move(path), std::move(name), {}, nullptr};
  if (!holds_rows(*source)) {
    ASSIGN_OR_RETURN(input.format, format_of(*source));
  }
  if (!wants_digest) return input;
  ASSIGN_OR_RETURN(input.sha256, sha256_of_file(input.path));
  return input;
}

}  // namespace

QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests) {
  QueryInputs inputs;
  std::vector<QueryInput> found;
  for (const std::string& path : std::set<std::string>(paths.begin(), paths.end())) {
    std::string stored = path;
    if (path == "-") {
      Result<FileDescriptor> file = store_standard_input();
      if (!file) {
        inputs.unreadable.push_back(std::move(file.error()));
        continue;
      }
      inputs.standard_input = std::move(*file);
      stored = path_of(inputs.standard_input);
    }
    Result<QueryInput> input =
        examine(stored, path == "-" ? "standard input" : path, wants_digests || paths.size() > 1);
    if (input) {
      found.push_back(std::move(*input));
    } else {
      if (path == "-") input.error().where = "standard input";
      inputs.unreadable.push_back(std::move(input.error()));
    }
  }
  std::set<std::string> contents;
  for (QueryInput& input : found) {
    if (!contents.insert(input.sha256).second) {
      inputs.repeated.push_back(std::move(input.name));
    } else {
      (input.format != nullptr ? inputs.traces : inputs.rows).push_back(std::move(input));
    }
  }
  return inputs;
}

}  // namespace doctor
