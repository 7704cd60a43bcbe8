#include "command_line/convert_target.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/nearest.h"

namespace doctor {
namespace {

struct Extension {
  std::string_view ending;
  ConvertFormat format;
};

constexpr std::array<Extension, 3> kExtensions = {{
    {".json", ConvertFormat::chrome},
    {".ndjson", ConvertFormat::ndjson},
    {".csv", ConvertFormat::csv},
}};

}  // namespace

Result<ConvertTarget> choose_convert_target(const std::optional<std::string>& format, const std::string& output) {
  constexpr std::string_view kCompressed = ".gz";
  ConvertTarget target;
  std::string_view name = output;
  target.is_compressed = name.ends_with(kCompressed);
  if (target.is_compressed) name.remove_suffix(kCompressed.size());
  if (format) {
    const auto* const found = std::find(std::begin(kConvertFormatNames), std::end(kConvertFormatNames), *format);
    if (found == std::end(kConvertFormatNames)) {
      const std::vector<std::string_view> names(std::begin(kConvertFormatNames), std::end(kConvertFormatNames));
      return fail("unknown value '" + *format + "'", "--format", suggestion(*format, names));
    }
    target.format = static_cast<ConvertFormat>(found - std::begin(kConvertFormatNames));
    return target;
  }
  if (output.empty() || output == "-") return target;
  const auto* const known = std::find_if(kExtensions.begin(), kExtensions.end(),
                                         [&](const Extension& extension) { return name.ends_with(extension.ending); });
  if (known == kExtensions.end()) {
    return fail("the name does not tell the format", output,
                "end it in .json, .ndjson or .csv (and .gz to compress it), or say --format chrome, ndjson or csv");
  }
  target.format = known->format;
  return target;
}

}  // namespace doctor
