#pragma once

#include <array>
#include <string_view>

namespace doctor {

/// The elements that a page for a browser may be made of. A name of a trace that became markup would be none of these.
inline constexpr std::array<std::string_view, 48> kHtmlElements = {
    "html",    "head",   "meta",  "link", "title", "style", "body",   "header",  "main",    "footer",
    "section", "h1",     "h2",    "h3",   "h4",    "p",     "ol",     "ul",      "li",      "div",
    "span",    "strong", "code",  "pre",  "kbd",   "a",     "data",   "figure",  "svg",     "g",
    "rect",    "circle", "line",  "text", "tspan", "path",  "defs",   "pattern", "details", "summary",
    "table",   "thead",  "tbody", "tr",   "th",    "td",    "button", "script"};

}  // namespace doctor
