#pragma once

#include <span>
#include <string_view>

namespace doctor {

/// The JSON Schema of a document that the tool writes: a file of docs/schemas.
struct DocumentSchema {
  std::string_view name;  ///< "report" of "tfdata-doctor.report/2"
  std::string_view text;
};

/// All of them, sorted by name. Of several versions of a document the newest comes last.
std::span<const DocumentSchema> document_schemas();

}  // namespace doctor
