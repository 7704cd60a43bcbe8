#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// The columns that a page for a person may take. Nothing where it goes into a file or a pipe: then paragraphs are
/// wrapped as for a usual terminal, and tables are as wide as they are.
using PageWidth = std::optional<std::size_t>;

// Text that is escaped already, measured in columns of a terminal.

/// Two for a wide character (East Asian scripts, emoji), none for one that combines with that before it, else one.
std::size_t column_count(std::string_view escaped);

/// At most `width` columns, which are at least three: what is too long loses its middle to "...".
std::string clip(std::string_view escaped, std::size_t width);

/// Foreign text within a line: escaped, and clipped to `width`. A name that is longer says nothing more to a person.
std::string clipped(std::string_view foreign, std::size_t width = 60);

/// Breaks text at blanks into lines of at most `width` columns, at least one. A longer word (a long name) stays whole
/// unless `breaks_words`.
std::vector<std::string> wrapped(std::string_view escaped, std::size_t width, bool breaks_words);

/// The lines of a text, without their line feeds.
std::vector<std::string_view> split_lines(std::string_view text);

/// What `words` makes of each of the things, with `between` between them; what is empty is left out.
template <typename Things, typename Words>
std::string joined(const Things& things, std::string_view between, Words words) {
  std::string text;
  for (const auto& thing : things) {
    const std::string part = words(thing);
    if (!text.empty() && !part.empty()) text += between;
    text += part;
  }
  return text;
}

/// Lines of a page, each broken so that it fits; further lines begin with `indent` blanks, which count.
/// Without a width they stay as they are.
std::string fitted_lines(std::string_view escaped, PageWidth width, std::size_t indent = 0);

/// Lines of a chart, the highest first: a column for each value, filled up to it from below. `values` are 0 or more;
/// the greatest of them fills all `height` lines, and what is more than nothing can be seen.
std::vector<std::string> area_chart(const std::vector<double>& values, std::size_t height);

/// Text for a terminal that shows ASCII alone, as wide as before: signs of charts become some of like weight, every
/// other character a "?" for each column that it takes.
std::string in_ascii(std::string text);

}  // namespace doctor
