// A job with a configuration file and an environment of its own.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "command_line/command_line.h"
#include "command_line/command_table.h"
#include "documents.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::settings_test {

using Variables = std::map<std::string, std::string>;

/// A working directory with a configuration file, and an environment.
class Job {
 public:
  explicit Job(const std::string& toml, Variables variables = {}) : variables_(std::move(variables)) {
    folder_.write(".git/HEAD", "");
    if (!toml.empty()) file_ = folder_.write(kConfigFileName, toml);
  }

  tl::expected<std::variant<Request, ReadyAnswer>, Errors> parse(const std::vector<std::string>& arguments) const {
    const auto variable = [this](const std::string& name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    return parse_command_line(arguments, {variable, folder_.path(), std::chrono::year(2026) / 6 / 1});
  }

  Request request(const std::vector<std::string>& arguments) const {
    const auto parsed = parse(arguments);
    if (!parsed) FAIL_CHECK(to_string(parsed.error().front()));
    REQUIRE(parsed.has_value());
    return std::get<Request>(*parsed);
  }

  std::string error(const std::vector<std::string>& arguments) const {
    const auto parsed = parse(arguments);
    REQUIRE_FALSE(parsed.has_value());
    return to_string(parsed.error().front());
  }

  std::optional<Severity> fail_on(const std::vector<std::string>& arguments) const {
    return fail_on_of(request(arguments));
  }

  /// How `show` or a report is printed.
  OutputOptions output(const std::vector<std::string>& arguments) const {
    const Result<OutputOptions> output = output_options(request(arguments));
    REQUIRE(output);
    return *output;
  }

  const std::string& file() const { return file_; }
  const TemporaryDirectory& folder() const { return folder_; }

 private:
  TemporaryDirectory folder_;
  std::string file_;
  Variables variables_;
};

}  // namespace doctor::settings_test
