#include "report/html/page_parts.h"
#include "report/selection.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

struct VerdictLook {
  std::string_view status;  ///< of the schema
  std::string_view look;
  std::string_view mark;  ///< its shape says the same as its colour
};

constexpr std::array<VerdictLook, 4> kVerdicts = {{{"input_bound", "verdict bad", "\u25b2"},
                                                   {"healthy", "verdict good", "\u25cf"},
                                                   {"no_input_pipeline", "verdict", "\u25a0"},
                                                   {"inconclusive", "verdict", "\u25c6"}}};

const VerdictLook& look_of_verdict(const std::string& status) {
  const auto* const found = std::ranges::find(kVerdicts, status, &VerdictLook::status);
  return found == kVerdicts.end() ? kVerdicts.back() : *found;
}

/// Waiting and running as parts of one bar, under it what they are.
void add_shares(double share, HtmlWriter& page) {
  const std::string waits = "waits for input: " + format_share(share);
  page.open("svg", {{"class", "picture"}, {"height", "46"}, {"role", "img"}, {"aria-label", waits + " of the time"}});
  page.empty("rect", {{"class", "waits"}, {"width", percent_of(share, 1)}, {"height", "24"}});
  page.empty("rect",
             {{"class", "runs"}, {"x", percent_of(share, 1)}, {"width", percent_of(1 - share, 1)}, {"height", "24"}});
  page.element("text", {{"x", "0"}, {"y", "41"}}, waits);
  page.element("text", {{"x", "100%"}, {"y", "41"}, {"text-anchor", "end"}}, "runs its steps");
  page.close();
}

/// The rate after each of the first changes with those before it, as the text report has it: only what needs no
/// condition, and only as far as it brings more.
std::vector<RateRow> predicted_rates(const OrderedJson& report, double now) {
  constexpr double kBringsMore = 1.03;  // less is not to be told from nothing: input-bound.min_gain
  std::vector<RateRow> rates;
  const OrderedJson& changes = list_of(report, key::changes);
  double rate = now;
  std::string numbers;
  std::size_t number = 0;
  for (std::size_t index = 0; index < changes.size(); ++index) {
    if (is_true(changes[index], key::suppressed) || find_value(changes[index], key::instead_of) != nullptr) continue;
    const OrderedJson* const together = find_value(changes[index], key::together);
    const OrderedJson* const gain = together != nullptr ? together : find_value(changes[index], key::gain);
    const bool counts =
        together != nullptr || (number == 0 && gain != nullptr && text_of(*gain, key::condition).empty());
    if (!counts || number_of(*gain, key::steps_per_s) < kBringsMore * rate) break;
    rate = number_of(*gain, key::steps_per_s);
    numbers += fmt::format("{}{}", numbers.empty() ? "" : " + ", ++number);
    rates.push_back({.what = (number == 1 ? "with change " : "with changes ") + numbers,
                     .low = now * number_of(*gain, key::low),
                     .estimate = rate,
                     .high = now * number_of(*gain, key::high),
                     .pointer = fmt::format("/report/changes/{}/{}/steps_per_s", index,
                                            together != nullptr ? "together" : "gain")});
  }
  return rates;
}

/// Now, after each change, and if every element were ready, on one scale. False where no model says it.
bool add_predicted_rates(const OrderedJson& report, HtmlWriter& page) {
  const OrderedJson& verdict = report[key::verdict];
  const std::optional<double> now = known_number(verdict, key::steps_per_s);
  const std::optional<double> ideal = known_number(verdict, key::steps_per_s_without_input);
  if (!now || !ideal || *now <= 0) return false;
  std::vector<RateRow> rows = predicted_rates(report, *now);
  const double top = top_of_rates(rows, *now, *ideal);
  const auto row_of = [](std::string what, double rate, std::string_view key) -> RateRow {
    return {.what = std::move(what),
            .low = rate,
            .estimate = rate,
            .high = rate,
            .pointer = "/report/verdict/" + std::string(key)};
  };
  rows.insert(rows.begin(), row_of("now", *now, key::steps_per_s));
  rows.push_back(row_of("if data were always ready", *ideal, key::steps_per_s_without_input));
  add_rates(rows, *now, top, page);
  add_note(
      "A model of this recording says so, with the interval of nine predictions out of ten: estimates, not "
      "promises. The dashed line is the rate now.",
      page);
  return true;
}

void add_confidence_line(const OrderedJson& verdict, HtmlWriter& page) {
  const double confidence = number_of(verdict, key::confidence);
  const std::string doubt = text_of(verdict, key::doubt);
  page.open("p", {{"class", doubt.empty() ? "muted" : "doubt"}});
  page.text(doubt.empty() ? "Confidence " : "Unsure: confidence ");
  // An unsure verdict never shows the number at which one is sure.
  const double shown = doubt.empty() ? confidence : std::min(confidence, kSureConfidence - 0.01);
  add_number(format_share(shown), confidence, "/report/verdict/confidence", page);
  page.text(doubt.empty() ? "." : ", because of this: " + doubt + ".");
  page.close();
}

// What somebody must know before she believes or acts, each in a line.

void add_banner(std::string_view label, const std::string& words, HtmlWriter& page) {
  page.open("p", {{"class", "banner"}});
  page.element("strong", label);
  page.text(" " + words);
  page.close();
}

void add_damage_banner(const OrderedJson& trace, HtmlWriter& page) {
  const OrderedJson* const loss = find_value(trace, key::loss);
  if (loss == nullptr || is_true(*loss, key::complete)) return;
  add_banner("Damaged:",
             "not all of the trace could be used (" + describe_loss(*loss) + "); the numbers cover what could be read.",
             page);
}

void add_calls_banner(const OrderedJson& report, HtmlWriter& page) {
  constexpr double kFewCalls = 10;  // below it the text report cautions, too
  const std::vector<const OrderedJson*> pipelines = drawn_pipelines(report);
  const OrderedJson* const calls = pipelines.empty() ? nullptr : find_value(*pipelines.front(), key::get_next);
  const double count = calls == nullptr ? kFewCalls : number_of(*calls, key::count);
  if (count <= 0 || count >= kFewCalls) return;
  add_banner(count == 1 ? "One step only:" : "Few steps:",
             fmt::format("the trace has {}; record about thirty.",
                         format_count(static_cast<std::size_t>(count), "GetNext call")),
             page);
}

void add_straggler_banner(const OrderedJson& report, HtmlWriter& page) {
  double others = 0;
  for (const OrderedJson& host : list_of(report, key::hosts_compared)) {
    if (text_of(host, key::status) == "alike") others = std::max(others, number_of(host, key::get_next_mean_us));
  }
  for (const OrderedJson& host : list_of(report, key::hosts_compared)) {
    if (text_of(host, key::status) != "straggler") continue;
    add_banner(
        "Straggler:",
        fmt::format("{} waits {} in a GetNext call, the others {} at most; in synchronous training all wait for it.",
                    shortened(text_of(host, key::host)), words_in(host, key::get_next_mean_us),
                    format_microseconds(others)),
        page);
  }
}

void add_device_banner(const OrderedJson& trace, HtmlWriter& page) {
  constexpr double kIdle = 0.5;  // of the recording: a device that computes for less is mostly not used
  const OrderedJson* main = nullptr;
  for (const OrderedJson& device : list_of(trace, key::device_activity)) {
    const bool is_main = main == nullptr || number_of(device, key::kernels_us) > number_of(*main, key::kernels_us);
    if (is_main && number_of(device, key::kernel_count) > 0) main = &device;
  }
  if (main == nullptr) return;
  const std::optional<double> idle = known_number(*main, key::idle_us);
  const std::optional<double> window = known_number(*main, key::window_us);
  if (!idle || !window || *window <= 0 || *idle / *window < kIdle) return;
  add_banner("Device idle:",
             fmt::format("{} computes {} of the time and rests {}, whatever the input does.",
                         shortened(text_of(*main, key::device)), format_share(1 - *idle / *window),
                         format_share(*idle / *window)),
             page);
}

}  // namespace

void add_verdict_section(const OrderedJson& report, const PageDocuments& /*documents*/, HtmlWriter& page) {
  const OrderedJson& verdict = report[key::verdict];
  const VerdictLook& look = look_of_verdict(text_of(verdict, key::status));
  const bool is_unsure = !text_of(verdict, key::doubt).empty();
  page.open("section", {{"id", "verdict"},
                        {"class", is_unsure ? "verdict" : std::string(look.look)},
                        {"aria-labelledby", "heading-verdict"}});
  page.open("h1", {{"id", "heading-verdict"}});
  page.element("span", {{"aria-hidden", "true"}}, look.mark);
  page.text(" " + headline_of(verdict));
  page.close();
  page.element("p", text_of(verdict, key::summary));
  if (const std::string limit = text_of(verdict, key::limit); !limit.empty())
    page.element("p", "What limits it: " + limit + ".");
  const std::optional<double> share = known_number(verdict, key::input_share);
  // Where there is nothing to judge, there is nothing to be sure of.
  if (share) {
    if (!add_predicted_rates(report, page)) add_shares(*share, page);
    if (const std::string why = text_of(verdict, key::no_gain_because); !why.empty())
      page.element("p", "Gain: " + why + ".");
    add_confidence_line(verdict, page);
  }
  const OrderedJson& trace = report[key::trace];
  add_damage_banner(trace, page);
  add_calls_banner(report, page);
  add_straggler_banner(report, page);
  add_device_banner(trace, page);
  page.close();
}

}  // namespace doctor
