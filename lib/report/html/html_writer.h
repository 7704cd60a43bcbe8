#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// An attribute of an element. The name is ours; the value is a number or a text, which may be foreign.
struct HtmlAttribute {
  template <typename Value>
  HtmlAttribute(std::string_view attribute, const Value& text) : name(attribute), value(fmt::format("{}", text)) {}

  std::string_view name;
  std::string value;
};

/// Writes HTML piece by piece. Text can enter a page only escaped: nothing of a trace, whatever it holds, becomes
/// markup.
class HtmlWriter {
 public:
  using Attributes = std::initializer_list<HtmlAttribute>;

  /// Begins an element; close() ends so many of those begun last.
  void open(std::string_view element, Attributes attributes = {});
  void close(std::size_t count = 1);

  /// An element with text alone.
  void element(std::string_view element, Attributes attributes, std::string_view text);
  void element(std::string_view element, std::string_view text) { this->element(element, {}, text); }
  /// An element without content, as <rect> and <meta> are. A void element of HTML, or one of SVG.
  void empty(std::string_view element, Attributes attributes = {});

  /// Foreign text on one line.
  void text(std::string_view text);
  /// Text that keeps its line feeds, for <pre>.
  void lines(std::string_view text);
  /// What the build embedded, or was escaped for a script: it goes in as it is.
  void trusted(std::string_view markup) { html_ += markup; }

  /// The page; every element must be closed.
  std::string finish() && { return std::move(html_); }

 private:
  void begin(std::string_view element, Attributes attributes);

  std::string html_;
  std::vector<std::string_view> open_;
};

}  // namespace doctor
