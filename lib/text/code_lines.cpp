#include "text/code_lines.h"

#include "text/columns.h"
#include "text/escape.h"

namespace doctor {
namespace {

constexpr std::size_t kIndent = 4;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Where a comment begins; the line's end where there is none. Quoted text may hold a '#'.
std::size_t comment_of(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#') {
      return at;
    }
  }
  return line.size();
}

/// The last place within `width` where a line may be broken: after a comma or an opening bracket, inside of brackets.
/// 0: there is none.
std::size_t last_break(std::string_view line, std::size_t width) {
  std::size_t found = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t at = 0; at < std::min(width, line.size()); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    const bool opens = c == '(' || c == '[' || c == '{';
    if (opens) ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth > 0 && (c == ',' || (opens && found == 0))) found = at + 1;
  }
  return found;
}

void add_lines(std::string_view line, std::size_t width, std::vector<std::string>& lines) {
  const std::size_t indent = indent_of(line);
  if (const std::size_t comment = comment_of(line); comment < line.size() && comment > indent && line.size() > width) {
    lines.push_back(std::string(indent, ' ') + std::string(line.substr(comment)));
    line = line.substr(0, line.find_last_not_of(' ', comment - 1) + 1);
  }
  std::string rest(line);
  while (rest.size() > width) {
    const std::size_t at = last_break(rest, width);
    if (at <= indent_of(rest) + kIndent || at >= rest.size()) break;
    lines.push_back(rest.substr(0, at));
    const std::size_t next = std::min(rest.find_first_not_of(' ', at), rest.size());
    rest = std::string(indent + kIndent, ' ') + rest.substr(next);
  }
  lines.push_back(rest);
}

}  // namespace

std::vector<std::string> code_lines(std::string_view code, std::size_t width) {
  std::vector<std::string> lines;
  while (!code.empty()) {
    const std::size_t length = std::min(code.find('\n'), code.size());
    add_lines(code.substr(0, length), width, lines);
    code.remove_prefix(std::min(length + 1, code.size()));
  }
  return lines;
}

}  // namespace doctor
