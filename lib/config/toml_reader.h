#pragma once

// Only the files of this folder that read TOML include this one: toml++ is built without exceptions, so that none of
// its own leave it.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_UNRELEASED_FEATURES 0
// What toml++ asserts, and with NDEBUG has the compiler assume, does not hold of every document: of "[" at the end of a
// line it does not. Without either it goes on and reports the error.
#define TOML_ASSERT(expression) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <fmt/format.h>
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/result.h"

namespace doctor {

/// What the parts of a configuration file share: where things are, and the errors found so far.
class TomlReader {
 public:
  explicit TomlReader(std::string path) : path_(std::move(path)) {}

  /// "path:line:column" of an error.
  std::string place(const toml::source_region& region) const {
    return fmt::format("{}:{}:{}", path_, region.begin.line, region.begin.column);
  }
  /// "path:line": where a setting comes from.
  std::string source(const toml::source_region& region) const { return fmt::format("{}:{}", path_, region.begin.line); }

  void fault(const toml::source_region& region, std::string what, std::string next = {}) {
    errors_.push_back({region.begin, {std::move(what), place(region), std::nullopt, std::move(next)}});
  }
  /// Notes the error of a check, which must say where; whether there was none.
  bool holds(const Result<void>& checked, const toml::source_region& region) {
    if (!checked) errors_.push_back({region.begin, checked.error()});
    return checked.has_value();
  }

  /// The value does not have the type that the key needs.
  void wrong_type(std::string_view key, const toml::node& node, std::string_view expected) {
    fault(node.source(), fmt::format("'{}' is {}, expected {}", key, type_name(node), expected));
  }
  void unknown_key(const toml::key& key, std::string_view table, const std::vector<std::string_view>& known) {
    fault(key.source(), fmt::format("unknown key '{}'{}", key.str(), table.empty() ? "" : fmt::format(" in {}", table)),
          suggestion(key.str(), known));
  }

  std::optional<std::string> text(std::string_view key, const toml::node& node, std::string_view expected) {
    if (const toml::value<std::string>* const value = node.as_string()) return value->get();
    wrong_type(key, node, expected);
    return std::nullopt;
  }
  std::optional<double> number(std::string_view key, const toml::node& node, std::string_view expected) {
    if (const toml::value<double>* const value = node.as_floating_point()) return value->get();
    if (const toml::value<std::int64_t>* const value = node.as_integer()) return static_cast<double>(value->get());
    wrong_type(key, node, expected);
    return std::nullopt;
  }

  /// All errors, in the order of the file.
  std::vector<Error> take_errors();

 private:
  struct PlacedError {
    toml::source_position position;
    Error error;
  };

  static std::string_view type_name(const toml::node& node);

  std::string path_;
  std::vector<PlacedError> errors_;
};

}  // namespace doctor
