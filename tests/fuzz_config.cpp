#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace {

/// One key of each type; those of the program stand in apps/.
std::vector<doctor::ConfigKey> keys_of_each_type() {
  const auto takes_all = [](const std::string&, const std::string&) { return doctor::Result<void>(); };
  return {{"quiet", doctor::ConfigType::boolean, takes_all},
          {"threads", doctor::ConfigType::integer, takes_all},
          {"fail-on", doctor::ConfigType::text, takes_all},
          {"min-gain", doctor::ConfigType::number, takes_all},
          {"max-memory", doctor::ConfigType::integer_or_text, takes_all}};
}

}  // namespace

// Any bytes: every error says where.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<doctor::ConfigKey> keys = keys_of_each_type();
  static const std::vector<doctor::CatalogEntry> catalog = doctor::rule_catalog();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const doctor::ConfigReading reading = doctor::read_config(bytes, "fuzz", keys, catalog);
  for (const doctor::Error& error : reading.errors) {
    if (!error.where.starts_with("fuzz:") || error.what.empty()) __builtin_trap();
  }
  return 0;
}
