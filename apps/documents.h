#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/options.h"
#include "command_line/output_targets.h"
#include "report/problem.h"
#include "text/text_page.h"

namespace doctor {

/// What a command found, as a document of one of the formats that are wanted. Errors: there is no such document.
using DocumentRenderer = std::function<Result<std::string>(OutputFormat)>;

/// The documents to write, the main one first.
std::vector<OutputTarget> outputs_of(const Options& options);

/// Writes all documents, whatever becomes of one. Says whether all were written; what was not is told on standard
/// error.
bool write_documents(const Options& options, const DocumentRenderer& render);

/// The problems in a format that is made for CI; nullopt for one that is not.
std::optional<std::string> render_problems(const ProblemReport& problems, OutputFormat format);

/// How the program ends.
int exit_code_of(ProblemOutcome outcome);

/// Columns of the text that the options ask for: those of the terminal that it goes to, or of COLUMNS.
PageWidth page_width(const Options& options);

/// How a page about the traces that the user named is to look.
TextStyle style_of(const Options& options);

}  // namespace doctor
