#include "base/sha256.h"
#include "report/html/html_page.h"
#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kLargestPage = 200 * 1024;  // bytes: opens at once, and a mail takes it

struct PageSection {
  std::string_view document;  ///< without it there is no such section
  Section* add;
};

/// In the order in which a person asks: what is it, what to do, where, when, why; then the evidence, folded away.
constexpr std::array<PageSection, 20> kSections = {{{"comparison", add_comparison_section},
                                                    {"history", add_history_section},
                                                    {"fleet", add_fleet_section},
                                                    {"report", add_verdict_section},
                                                    {"report", add_pace_section},
                                                    {"pace", add_pace_section},
                                                    {"report", add_advice_section},
                                                    {"whatif", add_whatif_section},
                                                    {"hosts", add_hosts_section},
                                                    {"report", add_pipeline_section},
                                                    {"steps", add_steps_section},
                                                    {"timeline", add_timeline_section},
                                                    {"text", add_plain_section},
                                                    {"report", add_function_section},
                                                    {"autotune", add_buffers_section},
                                                    {"ops", add_ops_section},
                                                    {"kernels", add_kernels_section},
                                                    {"memory", add_memory_section},
                                                    {"report", add_findings_section},
                                                    {"report", add_recording_section}}};

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t index = 0; index < bytes.size(); index += 3) {
    std::uint32_t group = 0;
    for (std::size_t offset = 0; offset < 3; ++offset) {
      const bool has_byte = index + offset < bytes.size();
      group = group << 8 | (has_byte ? static_cast<unsigned char>(bytes[index + offset]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += index + digit > bytes.size() ? '=' : kDigits[group >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

/// The documents as the data of a script element: nothing in them ends it.
std::string data_of(const PageDocuments& documents) {
  PageDocuments data = OrderedJson::object();
  for (const auto& [name, document] : documents.items()) {
    // The section of findings says in words what rules ask.
    if (name != "rules" && !name.starts_with("explanation_")) data[name] = document;
  }
  drop_drawn_spans(data);
  const std::string line = to_line(data);
  std::string text;
  text.reserve(line.size());
  for (const char character : line) {
    const bool ends_script = character == '<' || character == '>' || character == '&';
    if (ends_script) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    } else {
      text += character;
    }
  }
  return text;
}

void add_head(std::string_view title, HtmlWriter& page) {
  page.trusted("<!doctype html>\n");
  page.open("html", {{"lang", "en"}});
  page.open("head");
  page.empty("meta", {{"charset", "utf-8"}});
  // Before anything that it governs.
  page.empty("meta",
             {{"http-equiv", "Content-Security-Policy"},
              {"content", "default-src 'none'; style-src '" + content_hash(kPageStyle) + "'; script-src '" +
                              content_hash(kPageScript) + "'; img-src data:; base-uri 'none'; form-action 'none'"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width,initial-scale=1"}});
  page.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  page.empty("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});  // else a browser asks for one
  page.element("title", title);
  page.open("style");
  page.trusted(kPageStyle);
  page.close(2);
  page.trusted("\n");
}

/// What was recorded: "14 steps in 130.6 ms, 2 cores, no device".
std::string describe_recording(const OrderedJson& report) {
  const OrderedJson& trace = report[key::trace];
  const std::vector<const OrderedJson*> pipelines = drawn_pipelines(report);
  std::string text;
  const auto add = [&](const std::string& part) { text += " \u00b7 " + part; };
  if (const OrderedJson* const calls = pipelines.empty() ? nullptr : find_value(*pipelines.front(), key::get_next)) {
    add(format_count(static_cast<std::size_t>(number_of(*calls, key::count)), "step"));
  }
  if (number_of(trace, key::window_us) > 0) add(words_in(trace, key::window_us) + " recorded");
  if (const OrderedJson* const culprit = find_value(report[key::verdict], key::culprit)) {
    if (const auto cores = known_number(*culprit, key::cpu_budget)) {
      add(format_count(static_cast<std::size_t>(*cores), "core"));
    }
  }
  const std::size_t devices = list_of(trace, key::devices).size();
  add(devices == 0 ? "no device" : format_count(devices, "device"));
  if (const std::size_t hosts = list_of(report, key::hosts_compared).size(); hosts > 1)
    add(format_count(hosts, "host"));
  return text;
}

/// The answer in one line, as the heading of the page has it; empty for a page that has none.
std::string headline_of_page(const PageDocuments& documents) {
  if (const OrderedJson* const report = find_document(documents, "report")) return headline_of((*report)[key::verdict]);
  if (const OrderedJson* const comparison = find_document(documents, "comparison"))
    return headline_of_comparison(*comparison);
  if (const OrderedJson* const fleet = find_document(documents, "fleet")) return headline_of_fleet(*fleet);
  const OrderedJson* const whatif = find_document(documents, "whatif");
  return whatif == nullptr ? std::string() : headline_of_whatif(*whatif);
}

/// The title is the heading of a page that begins with no verdict.
void add_header(std::string_view title, const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = find_document(documents, "report");
  page.open("header");
  if (report == nullptr) {
    page.element(headline_of_page(documents).empty() ? "h1" : "p", title);
  } else {
    page.open("p", {{"class", "muted"}});
    page.element("strong", title);
    page.text(describe_recording(*report));
    page.close();
  }
  page.close();
}

void add_key_help(HtmlWriter& page) {
  page.open("p", {{"class", "muted script pictures"}, {"hidden", ""}});
  const auto add_keys = [&](std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      page.element("kbd", key);
      page.text(" ");
    }
  };
  page.text("Pictures: drag to zoom, double-click to reset; on a focused one ");
  add_keys({"+", "-", "\u2190", "\u2192", "0"});
  page.text("; click a span for details, or go to the next and the one before with ");
  add_keys({"n", "p"});
  page.text("; ");
  page.element("kbd", "t");
  page.text(" opens all tables.");
  page.close();
}

/// "55 % of the time is spent in GetNext - run/host - tfdata-doctor": tells the tabs of a browser apart.
std::string title_of_tab(const PageDocuments& documents, std::string_view title) {
  const std::string headline = headline_of_page(documents);
  return headline + (headline.empty() ? "" : " - ") + std::string(title) + " - tfdata-doctor";
}

std::string draw_page(const PageDocuments& all, std::string_view title) {
  HtmlWriter page;
  add_head(title_of_tab(all, title), page);
  page.open("body");
  page.trusted(kPagePatterns);
  add_header(title, all, page);
  page.open("main");
  for (const PageSection& section : kSections) {
    if (const OrderedJson* const document = find_document(all, section.document)) section.add(*document, all, page);
  }
  page.close();
  page.open("footer");
  add_key_help(page);
  const OrderedJson tool = tool_json();
  add_note("Made by " + text_of(tool, key::name) + " " + text_of(tool, key::version) +
               " (sandbox: " + text_of(tool, key::sandbox) +
               "). Every number of this page is in its data: the element with the id \"data\" holds the JSON "
               "documents that the same command prints with --format json.",
           page);
  page.close();
  page.open("script", {{"type", "application/json"}, {"id", "data"}});
  page.trusted(data_of(all));
  page.close();
  page.trusted("\n");
  page.open("script");
  page.trusted(kPageScript);
  page.close(3);
  page.trusted("\n");
  return std::move(page).finish();
}

}  // namespace

std::string content_hash(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  const std::string digits = hash.finish();
  std::string bytes;
  for (std::size_t index = 0; index + 1 < digits.size(); index += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(index, 2), nullptr, 16));
  }
  return "sha256-" + to_base64(bytes);
}

std::string render_html(PageDocuments documents, std::string_view title) {
  drop_folders(documents);
  std::string page;
  for (const double share : {1.0, 0.5, 0.25}) {
    PageDocuments bounded = documents;
    for (OrderedJson& document : bounded) bound_for_page(document, share);
    page = draw_page(bounded, title);
    if (page.size() <= kLargestPage) break;
  }
  return page;
}

std::string render_document_html(std::string_view name, OrderedJson document, std::string_view title,
                                 const std::string& text) {
  PageDocuments documents = {{name, std::move(document)}};
  if (!text.empty()) documents.emplace("text", text);
  return render_html(std::move(documents), title);
}

}  // namespace doctor
