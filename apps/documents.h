#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "options.h"
#include "output_targets.h"
#include "report/report.h"

namespace doctor {

/// What a command found, as a document of one of the formats that are wanted. Errors: there is no such document.
using DocumentRenderer = std::function<Result<std::string>(OutputFormat)>;

/// The documents to write, the main one first.
std::vector<OutputTarget> outputs_of(const Options& options);

/// Writes all documents, whatever becomes of one. Says whether all were written; what was not is told on standard
/// error.
bool write_documents(const Options& options, const DocumentRenderer& render);

/// How a page about the traces that the user named is to look.
TextStyle style_of(const Options& options);

}  // namespace doctor
