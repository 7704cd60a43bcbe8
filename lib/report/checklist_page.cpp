#include "diagnose/budgets.h"
#include "diagnose/cores.h"
#include "diagnose/loaders.h"
#include "diagnose/user_code.h"
#include "report/json_values.h"
#include "report/page.h"
#include "report/report.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

constexpr std::size_t kLongestCodeOfAnswer = 200;

/// The words of the schema are those of to_word(); they never change.
enum class Reply { yes, no, partly, unknown };

/// A question of the guide, answered. Texts may hold foreign text.
struct ChecklistItem {
  std::string_view question;
  std::optional<Reference> see = {};  ///< the guide's section that asks it; nullopt: the guide is not about this loader
  Reply answer = Reply::unknown;
  bool asks_where_or_how = false;          ///< so that "yes" answers nothing: a person reads the words alone
  std::string words = {};                  ///< the answer in a sentence
  std::vector<std::string> evidence = {};  ///< what it rests on
  std::vector<std::string> rules = {};     ///< that found something about it
  std::vector<Advice> advice = {};         ///< what to do about it
};

std::string_view to_word(Reply answer) {
  using enum Reply;
  return word_of(answer, {{yes, "yes"}, {no, "no"}, {partly, "partly"}, {unknown, "unknown"}});
}

/// What a person reads before the words.
std::string_view label_of(const ChecklistItem& item) {
  using enum Reply;
  return item.asks_where_or_how && item.answer != unknown
             ? "Answer"
             : word_of(item.answer, {{yes, "Yes"}, {no, "No"}, {partly, "Partly"}, {unknown, "Unknown"}});
}

/// Adds the findings of these rules about the pipeline, with the first advice of each.
void add_findings(const Diagnosis& diagnosis, const PipelineView& view, std::initializer_list<std::string_view> rules,
                  ChecklistItem& item) {
  for (const Finding& finding : findings_that_count(diagnosis.findings)) {
    const bool is_asked_for = std::ranges::find(rules, finding.rule) != rules.end();
    const bool is_elsewhere = finding.pipeline && &diagnosis.judgement.pipelines[*finding.pipeline] != &view.judgement;
    if (!is_asked_for || is_elsewhere) continue;
    item.rules.push_back(finding.rule);
    item.evidence.push_back(finding.message);
    if (!finding.advice.empty()) item.advice.push_back(finding.advice.front());
  }
}

ChecklistItem is_fast_enough(const Measurements& measurements, const PipelineView& view) {
  ChecklistItem item = {"Is your tf.data pipeline producing data fast enough?", references::kFastEnough};
  if (has_other_loader(view.pipeline)) item = {"Is your loader producing data fast enough?", std::nullopt};
  item.evidence.push_back("GetNext: " + describe_calls(view.pipeline));
  switch (view.judgement.level) {
    case InputLevel::bound:
      item.answer = Reply::no;
      item.words = "the training waits for its input";
      break;
    case InputLevel::mild:
      item.answer = Reply::partly;
      item.words = "the training waits for its input now and then";
      break;
    case InputLevel::not_bound:
      item.answer = Reply::yes;
      item.words = "the input is not the bottleneck: the other answers are for information";
      break;
    case InputLevel::unknown:
      item.words = "the trace shows too little to tell: " + describe_doubt(view.judgement.doubt, measurements);
      return item;
  }
  item.evidence.push_back(input_part(view.pipeline, view.judgement));
  return item;
}

ChecklistItem is_prefetching(const Diagnosis& diagnosis, const PipelineView& view) {
  ChecklistItem item = {"Are you prefetching data?", references::kArePrefetching};
  const PipelineMeasurement& pipeline = view.pipeline;
  if (pipeline.root == kNoIterator) {
    item.words = "the trace shows nothing inside of GetNext";
    return item;
  }
  add_findings(diagnosis, view, {"missing-prefetch", "remade-iterator"}, item);
  if (pipeline.prefetch == kNoIterator) {
    const IteratorId last = pipeline.outermost != kNoIterator ? pipeline.outermost : pipeline.root;
    item.answer = Reply::no;
    item.words = describe(view.host, last) + " runs inside of GetNext, while the training waits";
    return item;
  }
  const IteratorMeasurement& prefetch = view.host.iterators[pipeline.prefetch];
  item.answer = Reply::yes;
  item.words = prefetch.is_injected() ? "TF inserted a prefetch at the end of the pipeline"
                                      : "the pipeline ends with a prefetch";
  item.evidence.push_back(prefetch.long_name);
  return item;
}

ChecklistItem uses_cpu(const Diagnosis& diagnosis, const PipelineView& view) {
  ChecklistItem item = {"Are you reaching high CPU utilization?", references::kCpuUtilization};
  add_findings(diagnosis, view,
               {"cpu-saturated", "input-takes-cores", "intra-op-parallelism", "low-parallelism", "autotune-limited",
                "uncached-repeat"},
               item);
  if (const std::string cores = describe_cores(view); !cores.empty()) item.evidence.push_back("cores: " + cores);
  const std::optional<double> utilization = cpu_utilization(view.pipeline, view.phase());
  if (!utilization) {
    item.words = why_cores_are_unknown(view.host);
    return item;
  }
  // "Approaching the resource limit" in the guide, which gives no number.
  const bool is_high = *utilization >= diagnosis.thresholds["cores_used_up"];
  item.answer = is_high ? Reply::yes : Reply::no;
  item.words = is_high ? "the cores are the limit: avoid computation, cache it, or move it off this host"
                       : "cores are idle while the training waits: more can be done at once";
  if (view.judgement.level == InputLevel::not_bound)
    item.words = fmt::format("{} of the cores are busy while GetNext is called", format_share(*utilization));
  return item;
}

/// The walk of the guide from the outermost transformation to the source: what each holds of the waits.
ChecklistItem where_is_bottleneck(const PipelineView& view) {
  ChecklistItem item = {"Where is the bottleneck?", references::kIdentifyBottleneck};
  if (view.judgement.culprit == kNoIterator) {
    item.words = "the trace does not show it";
    return item;
  }
  const bool is_waited_for = names_culprit(view.judgement);
  item.answer = is_waited_for ? Reply::yes : Reply::no;
  item.asks_where_or_how = true;
  const std::string name = describe_culprit(view);
  if (!is_waited_for) {
    item.words = "nobody waits; the busiest is " + name;
  } else if (sets_pace(view.judgement)) {
    item.words = name + " " + describe_evidence(view.host, view.judgement);
  } else {
    item.words = fmt::format("{}, with {} of the wait", name, format_share(view.judgement.culprit_share));
  }
  item.evidence.push_back(describe_place(view));
  if (const std::string function = describe_function(view); !function.empty()) item.evidence.push_back(function);
  item.evidence.push_back(view.culprit().long_name);
  return item;
}

ChecklistItem how_to_address_it(const Diagnosis& diagnosis, const PipelineView& view) {
  const InputLevel level = view.judgement.level;
  const bool is_of_loader = has_other_loader(view.pipeline);
  const bool has_culprit = view.judgement.culprit != kNoIterator;
  const bool is_source = has_culprit && view.culprit().is_source;
  ChecklistItem item = {"How is it addressed?"};
  if (!is_of_loader) item.see = is_source ? references::kSourceDatasets : references::kTransformationDatasets;
  const bool is_waited_for = is_of_loader ? level == InputLevel::bound || level == InputLevel::mild
                                          : has_culprit && names_culprit(view.judgement);
  if (!is_waited_for) {
    item.words = "there is nothing to address in the input";
    return item;
  }
  item.answer = Reply::yes;
  item.asks_where_or_how = true;
  item.words = is_of_loader ? "by the loader's own options"
               : is_source  ? "a source: read in parallel, from files that are large enough to be worth opening"
                            : "a transformation: run it in parallel, cache it, or run copies of the pipeline on shards";
  for (const Change& change : diagnosis.changes) {
    const Finding& finding = diagnosis.findings[change.finding];
    const bool is_here = finding.pipeline && &diagnosis.judgement.pipelines[*finding.pipeline] == &view.judgement;
    if (!is_here || finding.suppressed || change.instead_of) continue;
    item.rules.push_back(finding.rule);
    item.advice.push_back(finding.advice[change.advice]);
  }
  if (item.advice.empty() && !is_of_loader)
    add_findings(diagnosis, view, {"slow-source", "slow-transformation", "input-bound"}, item);
  return item;
}

/// What workers make while the training works on the batch before.
ChecklistItem is_making_ahead(const PipelineView& view) {
  ChecklistItem item = {"Are batches made ahead of the training?", std::nullopt};
  const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
  const MadeBy made_by = making == nullptr ? MadeBy::unknown : making->made_by;
  switch (made_by) {
    case MadeBy::unknown:
      item.words = "the trace does not show who makes them";
      break;
    case MadeBy::loop:
      item.answer = Reply::no;
      item.words = "the loop makes each when it asks for it";
      break;
    case MadeBy::threads:
      item.answer = Reply::yes;
      item.words = fmt::format("by {} of the same process", format_count(making->workers, "thread"));
      break;
    case MadeBy::processes:
      item.answer = Reply::yes;
      item.words = "by worker processes";
      break;
  }
  return item;
}

ChecklistItem where_is_bottleneck_of_loader(const PipelineView& view) {
  ChecklistItem item = {"Where is the bottleneck?", std::nullopt};
  const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
  item.asks_where_or_how = making != nullptr && making->slowest_stage() != nullptr;
  item.answer = item.asks_where_or_how ? Reply::yes : Reply::unknown;
  item.words = describe_loader(view.host, view.pipeline);
  const std::string stages = making != nullptr ? describe_stages(*making) : std::string();
  if (!stages.empty()) item.evidence.push_back("stages: " + stages);
  return item;
}

std::vector<ChecklistItem> checklist_of(const Measurements& measurements, const Diagnosis& diagnosis,
                                        const std::vector<PipelineView>& views) {
  if (views.empty()) return {};
  const PipelineView& view = views.front();
  if (has_other_loader(view.pipeline)) {
    return {is_fast_enough(measurements, view), is_making_ahead(view), where_is_bottleneck_of_loader(view),
            how_to_address_it(diagnosis, view)};
  }
  return {is_fast_enough(measurements, view), is_prefetching(diagnosis, view), uses_cpu(diagnosis, view),
          where_is_bottleneck(view), how_to_address_it(diagnosis, view)};
}

OrderedJson item_json(const ChecklistItem& item, const PipelineView& view) {
  return {{key::question, item.question},
          {key::answer, to_word(item.answer)},
          {key::words, item.words},
          {key::evidence, item.evidence},
          {key::rules, item.rules},
          {key::advice, array_of(item.advice,
                                 [&](const Advice& each) -> OrderedJson {
                                   return {{key::text, each.text.whole()},
                                           {key::code, or_null(each.code)},
                                           {key::gain, gain_json(each.gain, &view.host)},
                                           {key::versions, text_or_null(each.versions)}};
                                 })},
          {key::see, item.see ? references_json({&*item.see, 1}).front() : OrderedJson(nullptr)}};
}

Result<OrderedJson> checklist_document(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  OrderedJson page = begun_page("tfdata-doctor.checklist/1");
  page[key::pipeline] = views.empty() ? OrderedJson(nullptr) : OrderedJson(pipeline_id(views.front()));
  page[key::host] = views.empty() ? OrderedJson(nullptr) : OrderedJson(views.front().host.name());
  page[key::items] = array_of(checklist_of(measurements, diagnosis, views),
                              [&](const ChecklistItem& item) { return item_json(item, views.front()); });
  return page;
}

Result<std::string> checklist_text(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const TextStyle& style = options.style;
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  TextPage page(style.color, style.width);
  if (views.empty()) {
    page.headline("NO ANSWERS", describe_verdict(answer_of(measurements, diagnosis), measurements, diagnosis),
                  Tone::unsure);
    return page.take();
  }
  std::size_t number = 0;
  for (const ChecklistItem& item : checklist_of(measurements, diagnosis, views)) {
    if (number > 0) page.empty_line();
    page.row(fmt::format("{}", ++number), item.question);
    page.row(label_of(item), item.words);
    if (style.detail == Detail::verdict) continue;
    for (const std::string& evidence : item.evidence) page.row("Why", evidence);
    for (const Advice& advice : item.advice) add_advice(advice, page);
    if (item.see) page.command("See", item.see->url);
  }
  return page.take();
}

std::string checklist_markdown(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  if (views.empty())
    return escape_for_markdown(describe_verdict(answer_of(measurements, diagnosis), measurements, diagnosis)) + "\n";
  std::string text = fmt::format("# {} checklist\n", has_other_loader(views.front().pipeline) ? "Input" : "tf.data");
  std::size_t number = 0;
  for (const ChecklistItem& item : checklist_of(measurements, diagnosis, views)) {
    const std::string question =
        item.see ? fmt::format("[{}]({})", item.question, item.see->url) : std::string(item.question);
    text += fmt::format("\n## {}. {}\n\n**{}**: {}\n\n", ++number, question, label_of(item),
                        escape_for_markdown(item.words));
    for (const std::string& evidence : item.evidence) text += "- " + escape_for_markdown(evidence) + "\n";
    for (const Advice& advice : item.advice) {
      text += "\n" + escape_for_markdown(advice.text.whole()) + "\n\n";
      if (advice.code) text += markdown_code_block(*advice.code, kLongestCodeOfAnswer);
    }
  }
  return text;
}

}  // namespace

constinit const Page kChecklistPage = {.name = "checklist",
                                       .summary = "the questions of TensorFlow's guide, with their answers",
                                       .text = checklist_text,
                                       .document = checklist_document,
                                       .markdown = checklist_markdown};

}  // namespace doctor
