#include "report/html/html_writer.h"

#include "text/escape.h"

namespace doctor {

void HtmlWriter::begin(std::string_view element, Attributes attributes) {
  html_ += '<';
  html_ += element;
  for (const HtmlAttribute& attribute : attributes) {
    html_ += ' ';
    html_ += attribute.name;
    html_ += "=\"" + escape_for_xml(attribute.value) + '"';
  }
}

void HtmlWriter::open(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  html_ += '>';
  open_.push_back(element);
}

void HtmlWriter::close(std::size_t count) {
  if (count > 1) close(count - 1);
  html_ += "</";
  html_ += open_.back();
  // A line for each block, so that two pages can be compared as text; inline elements and those of pictures stay on it.
  const std::string_view element = open_.back();
  const bool is_block = element == "section" || element == "p" || element == "li" || element == "tr" ||
                        element == "figure" || element == "h1" || element == "h2" || element == "h3" ||
                        element == "details" || element == "svg";
  html_ += is_block ? ">\n" : ">";
  open_.pop_back();
}

void HtmlWriter::element(std::string_view element, Attributes attributes, std::string_view text) {
  open(element, attributes);
  this->text(text);
  close();
}

void HtmlWriter::empty(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  html_ += "/>";
}

void HtmlWriter::text(std::string_view text) {
  html_ += escape_for_xml(text);
}

void HtmlWriter::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    html_ += escape_for_xml(text.substr(0, end));
    if (end == std::string_view::npos) return;
    html_ += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace doctor
