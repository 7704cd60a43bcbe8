#include "text/code_lines.h"

#include "text/columns.h"
#include "text/escape.h"

namespace doctor {
namespace {

constexpr std::size_t kIndent = 4;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Brackets that are open, and the quote that is.
struct Nesting {
  int depth = 0;
  char quote = 0;

  bool opens(char c) const { return quote == 0 && (c == '(' || c == '[' || c == '{'); }
  void take(char c) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      return;
    }
    if (c == '\'' || c == '"') quote = c;
    if (opens(c)) ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
};

/// Where a comment begins; the line's end where there is none. Quoted text may hold a '#'.
std::size_t comment_of(std::string_view line) {
  Nesting nesting;
  std::size_t at = 0;
  for (; at < line.size() && (nesting.quote != 0 || line[at] != '#'); ++at) nesting.take(line[at]);
  return at;
}

/// The last place within `width` where a line may be broken: after a comma or, where there is none, an opening bracket.
/// 0: there is none.
std::size_t last_break(std::string_view line, std::size_t width, Nesting nesting) {
  std::size_t found = 0;
  bool is_in_lambda = false;  // its arguments belong together
  for (std::size_t at = 0; at < std::min(width, line.size()); ++at) {
    const char c = line[at];
    const bool opens = nesting.opens(c);
    nesting.take(c);
    if (line.substr(at).starts_with("lambda ")) is_in_lambda = true;
    if (c == ':') is_in_lambda = false;
    const bool is_inside = nesting.quote == 0 && nesting.depth > 0 && !is_in_lambda;
    if (is_inside && (c == ',' || (opens && found == 0))) found = at + 1;
  }
  return found;
}

void add_lines(std::string_view line, std::size_t width, Nesting& nesting, std::vector<std::string>& lines) {
  const std::size_t indent = indent_of(line);
  if (const std::size_t comment = comment_of(line); comment < line.size() && comment > indent && line.size() > width) {
    for (const std::string& words : wrapped(line.substr(comment + 1), width - indent - 2, false)) {
      lines.push_back(std::string(indent, ' ') + "# " + words);
    }
    line = line.substr(0, line.find_last_not_of(' ', comment - 1) + 1);
  }
  const std::size_t next_indent = nesting.depth > 0 ? indent : indent + kIndent;
  std::string rest(line);
  while (rest.size() > width) {
    const std::size_t at = last_break(rest, width, nesting);
    if (at <= indent_of(rest) + kIndent || at >= rest.size()) break;
    for (const char c : rest.substr(0, at)) nesting.take(c);
    lines.push_back(rest.substr(0, at));
    rest = std::string(next_indent, ' ') + rest.substr(std::min(rest.find_first_not_of(' ', at), rest.size()));
  }
  for (const char c : rest.substr(0, comment_of(rest))) nesting.take(c);
  lines.push_back(rest);
}

}  // namespace

std::vector<std::string> code_lines(std::string_view code, std::size_t width) {
  std::vector<std::string> lines;
  Nesting nesting;
  for (const std::string_view line : split_lines(code)) add_lines(line, width, nesting, lines);
  return lines;
}

}  // namespace doctor
