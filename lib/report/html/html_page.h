#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html/page_documents.h"

namespace doctor {

/// A page for a browser, drawn from published documents (docs/schemas): a section for each that is known, in the order
/// in which a person asks. One self-contained file: it loads nothing, its style and script are named by their hashes in
/// its content security policy, and the documents lie in it as inert data. Without a script all of it is there but
/// zooming and copying. `title` is foreign text. The same documents give the same bytes.
std::string render_html(std::vector<PageDocument> documents, std::string_view title);

/// A page of one document. `text` stands where no section draws it: what the command prints for a person; empty: a
/// section does.
std::string render_document_html(PageDocument document, std::string_view title, const std::string& text = {});

/// What sets the pace, drawn from `pace` of a report: a picture of its own, for a comment or a notebook. It loads
/// nothing and follows the colours of the reader. Empty where there is no pace.
std::string render_pace_svg(const OrderedJson& pace);

/// What the build embedded in every page: lib/report/html/page.css, page.js and patterns.html.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kPagePatterns;

/// The source of a content security policy that allows exactly this text: "sha256-...".
std::string content_hash(std::string_view text);

}  // namespace doctor
