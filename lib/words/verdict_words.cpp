#include "words/verdict_words.h"

#include <fmt/format.h>

#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "diagnose/recording.h"
#include "diagnose/user_code.h"
#include "text/columns.h"
#include "text/numbers.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

std::string describe_cost(const InputCost& cost) {
  return fmt::format("preparing data {} that training needs; without it training would be {} faster",
                     cost.takes == InputCost::Takes::cores ? "takes the cores" : "holds the Python lock",
                     format_factor(cost.speedup_without_input));
}

std::string describe_hosts(const WaitingHosts& hosts, double share) {
  if (hosts.are_windows) {
    return fmt::format("in {} of {} windows training waits for data, up to {} of the time", hosts.waiting,
                       hosts.compared, format_share(share));
  }
  return fmt::format("{} of {} hosts {} for data, up to {} of the time", hosts.waiting, hosts.compared,
                     hosts.waiting == 1 ? "waits" : "wait", format_share(share));
}

std::string describe_hidden(const HiddenWork& hidden) {
  if (!hidden.loader.empty()) {
    return fmt::format("worker processes of {} make it, which the trace does not show", hidden.loader);
  }
  return fmt::format("{} {} the {} that {} takes for a batch", format_count(hidden.workers, "worker thread"),
                     hidden.workers == 1 ? "hides" : "hide", format_time(hidden.typical), hidden.function);
}

/// The verdict on an input that was judged.
std::string describe_judged(const Verdict& verdict) {
  if (verdict.cost.takes != InputCost::Takes::nothing) return describe_cost(verdict.cost);
  const double share = verdict.lost_share.value_or(verdict.wait_share);
  if (verdict.hosts) return describe_hosts(*verdict.hosts, share);
  std::string text = verdict.lost_share      ? "waiting for data costs training "
                     : verdict.is_of_devices ? "the device is idle because it waits for data "
                                             : "training waits for data ";
  text += format_share(share) + " of the time";
  if (verdict.recorded_share)
    text += fmt::format(" over the whole run, but {} in the recorded steps", format_share(*verdict.recorded_share));
  if (verdict.hidden) text += ": " + describe_hidden(*verdict.hidden);
  if (!verdict.set_aside) return text;
  return fmt::format("{}; one slow batch (number {}, {}) makes it {}", text, verdict.set_aside->call,
                     format_time(verdict.set_aside->length), format_share(verdict.set_aside->wait_share));
}

std::string describe_nothing_to_read(const Measurements& measurements, const Diagnosis& diagnosis) {
  const std::uint64_t events = event_count(measurements);
  const Loss loss = total_loss(measurements);
  bool has_iterators = false;
  bool has_mention = false;
  for (const HostMeasurement& host : measurements.hosts) {
    has_iterators = has_iterators || !host.iterators.empty();
    has_mention = has_mention || host.mentions_tf_data;
  }
  if (diagnosis.judgement.status == VerdictStatus::no_input_pipeline) {
    const std::string framework = foreign_framework(measurements);
    if (is_of_torch(measurements)) {
      return fmt::format("the {} of this PyTorch trace show no loop over a DataLoader", format_count(events, "event"));
    }
    const std::string whose = framework.empty() ? "" : " of this " + framework + " trace";
    const std::string queue = describe_queue_alone(measurements);
    return fmt::format("none of the {}{} is from tf.data{}{}", format_count(events, "event"), whose,
                       queue.empty() ? "" : "; ", queue);
  }
  if (events == 0) return "no timed event could be read";
  if (has_iterators) return "the trace shows tf.data at work, but nothing that takes its elements";
  if (has_mention) return "the trace shows tf.data being set up but never at work";
  return loss.complete() ? fmt::format("only {} in the trace, and none is from tf.data", format_count(events, "event"))
                         : "no tf.data event was seen, and parts of the trace were lost";
}

std::string capitalized(std::string sentence) {
  if (!sentence.empty() && sentence.front() >= 'a' && sentence.front() <= 'z') sentence.front() -= 'a' - 'A';
  return sentence;
}

std::string describe_stall_times(const Stalls& stalls, std::size_t calls) {
  const std::string length = stalls.longest <= 2 * stalls.shortest
                                 ? format_time(stalls.typical)
                                 : fmt::format("{} to {}", format_time(stalls.shortest), format_time(stalls.longest));
  const std::string others = format_time(stalls.usual);
  if (stalls.begin_epochs()) {
    return fmt::format("the first batch of an epoch takes {}, the others {}", length, others);
  }
  if (stalls.is_regular && stalls.distance > 1) {
    return fmt::format("every {} batch takes {}, the others {}", ordinal(stalls.distance), length, others);
  }
  return fmt::format("{} of {} batches take {}, the others {}", format_count(stalls.count), format_count(calls), length,
                     others);
}

std::string mostly_in(const HostMeasurement& host, IteratorId culprit) {
  return culprit == kNoIterator ? "" : ", mostly in " + describe(host, culprit);
}

/// "about every 20 calls, from call 20 to call 200", "each is the first call of an epoch".
std::string spacing(const Stalls& stalls) {
  if (stalls.begin_epochs() && stalls.epoch_starts == stalls.count) return "each is the first call of an epoch";
  if (stalls.begin_epochs()) return fmt::format("{} of them are the first call of an epoch", stalls.epoch_starts);
  const std::string range = fmt::format("from call {} to call {}", stalls.first + 1, stalls.last + 1);
  if (stalls.is_regular) return fmt::format("about every {} calls, {}", stalls.distance, range);
  return stalls.distance < 2 ? "mostly one after another, " + range : range;
}

/// "58.2 ms", or "5.17 to 134.6 ms" where that would mislead.
std::string lengths(const Stalls& stalls) {
  if (stalls.longest <= 2 * stalls.shortest) return format_time(stalls.typical);
  return fmt::format("{} to {}", format_time(stalls.shortest), format_time(stalls.longest));
}

}  // namespace

std::string_view title_of(const Verdict& verdict) {
  const bool is_probable = verdict.certainty == Certainty::probable;
  switch (verdict.status) {
    case VerdictStatus::no_input_pipeline:
      return "NO INPUT PIPELINE";
    case VerdictStatus::input_bound:
      if (verdict.certainty != Certainty::unknown) return is_probable ? "PROBABLY INPUT-BOUND" : "INPUT-BOUND";
      break;
    case VerdictStatus::healthy:
      if (verdict.certainty != Certainty::unknown) return is_probable ? "PROBABLY NOT INPUT-BOUND" : "NOT INPUT-BOUND";
      break;
    case VerdictStatus::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

std::string describe_verdict(const Answer& answer, const Measurements& measurements, const Diagnosis& diagnosis) {
  if (answer.verdict.certainty != Certainty::unknown) return describe_judged(answer.verdict);
  if (torn_file(measurements))
    return "the file is damaged, and what is left of it does not show what training waits for";
  if (is_known(answer.doubt)) return "the recording does not show whether training waits for data";
  return describe_nothing_to_read(measurements, diagnosis);
}

std::string describe_cause(const Cause& cause) {
  const PipelineView& view = cause.pipeline;
  if (cause.iterator == kNoIterator) {
    return cause.loader.empty() ? "unknown: the trace shows that data arrives late, but not how it is made"
                                : describe_loader(view.host, view.pipeline);
  }
  const PipelineJudgement& judged = view.judgement;
  std::string text = describe_culprit(view);
  if (judged.cost.takes != InputCost::Takes::nothing) {
    text += ": most of the work of preparing data";
  } else {
    // One thread takes from a queue, but several workers fill it.
    const bool has_workers = batch_making_of(view.host, view.pipeline) != nullptr;
    const std::string manner = has_workers ? std::string() : manner_of(judged.limit, judged.culprit);
    if (!manner.empty()) text += ", " + manner;
    if (sets_pace(judged)) {
      text += manner.empty() ? " sets the pace" : ", sets the pace";
    } else {
      text += fmt::format(": {} of the waiting{}", format_share(judged.culprit_share),
                          cause.is_warmup ? " in the first batches" : "");
    }
  }
  const std::string sentence = judged.level == InputLevel::bound ? sentence_about(judged.limit) : std::string();
  return sentence.empty() ? text : text + ". " + sentence;
}

std::string describe_pattern(const PipelineMeasurement& pipeline) {
  if (pipeline.stalls) return describe_stall_times(*pipeline.stalls, pipeline.calls.size());
  if (!pipeline.pace_change) return {};
  const PaceChange& change = *pipeline.pace_change;
  return fmt::format("from batch {} on a batch takes {} instead of {}", change.from + 1, format_time(change.after),
                     format_time(change.before));
}

std::string describe_ops(const std::vector<FunctionOp>& ops) {
  return joined(ops, ", ", [](const FunctionOp& op) { return op.op + " " + format_time(op.self); });
}

std::string describe_rates(const Rates& rates) {
  std::string text = format_steps_per_s(rates.now) + " steps/s";
  switch (rates.source) {
    case RateSource::model:
      text += " now";
      break;
    case RateSource::recorded:
      text += " as recorded";
      break;
    case RateSource::clocked:
      text += " before the recording";
      break;
  }
  if (rates.ready <= 0) return text;
  return text + fmt::format("; {} if data were always ready", format_steps_per_s(rates.ready));
}

std::string describe_missing_gains(const Answer& answer) {
  if (answer.no_fix_gains) return "none of the changes that the model knows makes it clearly faster";
  const std::string_view reason = describe(answer.no_gain_because);
  return reason.empty() ? std::string() : fmt::format("what a change brings is not predicted: {}", reason);
}

std::string summarize(const Measurements& measurements, const Diagnosis& diagnosis) {
  const Answer answer = answer_of(measurements, diagnosis);
  std::string text = capitalized(describe_verdict(answer, measurements, diagnosis)) + ".";
  if (answer.verdict.is_one_step) text = "One step only: " + describe_verdict(answer, measurements, diagnosis) + ".";
  if (is_known(answer.doubt) && answer.verdict.certainty == Certainty::unknown) {
    text += fmt::format(" What is missing: {}.", describe_doubt(answer.doubt, measurements));
  }
  if (answer.cause) text += fmt::format(" The cause: {}.", describe_cause(*answer.cause));
  return text;
}

std::string describe_stalls(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.stalls) return {};
  const Stalls& stalls = *pipeline.stalls;
  return fmt::format("{} of {} take {}, the others {}: {}; {} in all ({} of the time){}", format_count(stalls.count),
                     format_count(pipeline.calls.size(), "call"), lengths(stalls), format_time(stalls.usual),
                     spacing(stalls), format_time(stalls.waited), format_share(stalls.share),
                     mostly_in(host, stalls.culprit));
}

std::string describe_pace_change(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (!pipeline.pace_change) return {};
  const PaceChange& change = *pipeline.pace_change;
  return fmt::format("From call {} on GetNext takes {} instead of {} ({} of the time instead of {}){}", change.from + 1,
                     format_time(change.after), format_time(change.before), format_share(change.share_after),
                     format_share(change.share_before), mostly_in(host, change.culprit));
}

}  // namespace doctor
