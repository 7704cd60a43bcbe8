// The phrase book: every sentence that the product makes of a fact of its answer, as a page that a person can read from
// top to bottom. scripts/accept-golden writes it anew.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/answer.h"
#include "golden_file.h"
#include "reported_case.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"
#include "words/verdict_words.h"

namespace doctor::golden_phrases_test {
namespace {

using report_test::Case;
using report_test::input_bound_case;

constexpr Picoseconds kMillisecond = 1'000'000'000;

/// A page of phrases.
struct Book {
  std::string text;

  void heading(std::string_view words) { text += fmt::format("\n## {}\n\n", words); }
  void phrase(std::string_view words) { text += fmt::format("- {}\n", words); }
};

Verdict verdict(VerdictStatus status, Certainty certainty, InputLevel level, double share) {
  Verdict made;
  made.status = status;
  made.certainty = certainty;
  made.level = level;
  made.wait_share = share;
  return made;
}

std::vector<Verdict> all_verdicts() {
  using enum VerdictStatus;
  const Verdict bound = verdict(input_bound, Certainty::sure, InputLevel::bound, 0.66);
  const Verdict fine = verdict(healthy, Certainty::sure, InputLevel::not_bound, 0.011);
  std::vector<Verdict> verdicts = {bound, verdict(input_bound, Certainty::probable, InputLevel::bound, 0.24), fine,
                                   verdict(healthy, Certainty::probable, InputLevel::not_bound, 0.021),
                                   verdict(healthy, Certainty::sure, InputLevel::mild, 0.071)};
  Verdict next = bound;
  next.is_of_devices = true;
  verdicts.push_back(next);
  next.lost_share = 0.72;
  verdicts.push_back(next);
  next = bound;
  next.recorded_share = 0.03;
  verdicts.push_back(next);
  next = fine;
  next.set_aside = CallSetAside{142 * kMillisecond, 17, 0.39};
  verdicts.push_back(next);
  next = fine;
  for (const std::string loader : {"", "Grain"}) {
    next.hidden = HiddenWork{"map (parse at train.py:10)", 16, 171 * kMillisecond, loader};
    verdicts.push_back(next);
  }
  for (const InputCost::Takes takes : {InputCost::Takes::cores, InputCost::Takes::python_lock}) {
    next = bound;
    next.cost = {takes, 1.9};
    verdicts.push_back(next);
  }
  for (const bool are_windows : {false, true}) {
    next = bound;
    next.hosts = WaitingHosts{2, 8, are_windows};
    verdicts.push_back(next);
  }
  return verdicts;
}

std::vector<Doubt> all_doubts() {
  return {doubts::OneStep{},
          doubts::SlowedByTracing{3},
          doubts::BusyMachine{1.5, 2},
          doubts::LateSteps{0.18},
          doubts::PythonLock{0.4},
          doubts::CoresInUse{1.4, 2},
          doubts::NoLeader{4},
          doubts::OtherProcesses{"Grain"},
          doubts::KeptElements{500},
          doubts::SeldomStall{16},
          doubts::FewCalls{1, true},
          doubts::FewCalls{3, false},
          doubts::OutsideTrace{0.4},
          doubts::OnlyModelled{},
          doubts::OneCallDecides{20, 0.71, 0.001, 10'400 * kMillisecond, 17},
          doubts::SlowStart{0.3, 0.03},
          doubts::NearLimit{12, 0.21, 0.05, 0.2},
          doubts::WholeRunDecides{700, 0.03, 51, 70},
          StoredElements{50, 10, 120},
          OtherSteps{700, 1.62, 51, 70},
          doubts::UnreadDevice{"/device:GPU:0", 1, 0},
          doubts::UnreadDevice{"/device:TPU:0", 1, 1200},
          doubts::UnreadDevice{{}, 4, 0},
          doubts::TornFile{0}};
}

std::vector<JudgedLimit> all_limits(IteratorId culprit) {
  std::vector<JudgedLimit> limits;
  for (const Limit limit :
       {Limit::source, Limit::thread, Limit::calls, Limit::pool, Limit::cores, Limit::python_lock}) {
    for (const std::int64_t count : {1, 2, 0}) {
      JudgedLimit made{limit};
      made.stage = limit == Limit::pool ? kNoIterator : culprit;
      made.count = count;
      limits.push_back(made);
    }
  }
  JudgedLimit files{Limit::outside};
  files.file_share = 0.71;
  limits.push_back(files);
  JudgedLimit elsewhere{Limit::outside};
  elsewhere.has_idle_cores = true;
  limits.push_back(elsewhere);
  for (const NoLimitBecause because :
       {NoLimitBecause::source_waits_or_unpacks, NoLimitBecause::python, NoLimitBecause::unknown_cores,
        NoLimitBecause::unseen_copies, NoLimitBecause::cores_half_used}) {
    JudgedLimit unknown;
    unknown.unknown_because = because;
    unknown.stage = culprit;
    unknown.python_share = 0.5;
    limits.push_back(unknown);
  }
  return limits;
}

void add_verdicts(const Case& shown, Book& book) {
  book.heading("First lines");
  Answer answer;
  for (const Verdict& each : all_verdicts()) {
    answer.verdict = each;
    book.phrase(fmt::format("{}: {}", title_of(each), describe_verdict(answer, shown.measurements, shown.diagnosis)));
  }
  answer.verdict = {};
  answer.doubt = doubts::OneStep{};
  book.phrase(
      fmt::format("{}: {}", title_of(answer.verdict), describe_verdict(answer, shown.measurements, shown.diagnosis)));
  answer.doubt = {};
  for (const bool has_mention : {false, true}) {
    for (const std::uint64_t events : {0u, 1200u}) {
      Case nothing;
      nothing.measurements.hosts.emplace_back();
      nothing.measurements.hosts[0].event_count = events;
      nothing.measurements.hosts[0].mentions_tf_data = has_mention;
      if (has_mention && events == 0) nothing.diagnosis.judgement.status = VerdictStatus::no_input_pipeline;
      answer.verdict.status = nothing.diagnosis.judgement.status;
      book.phrase(fmt::format("{}: {}", title_of(answer.verdict),
                              describe_verdict(answer, nothing.measurements, nothing.diagnosis)));
    }
  }
}

void add_doubts(const Case& shown, Book& book) {
  book.heading("Unsure");
  Measurements torn = shown.measurements;
  torn.hosts[0].loss.add("document_cut_off");
  for (const Doubt& doubt : all_doubts()) {
    const Remedy remedy = remedy_of(doubt, torn);
    const std::string command = remedy.command.empty() ? "" : fmt::format(": `{}`", remedy.command);
    book.phrase(fmt::format("{}. {}{}", describe_doubt(doubt, torn), remedy.sentence, command));
  }
  book.phrase(describe_filling_cache(shown.measurements.hosts[0], CacheFill{IteratorId{2}, 158, 158}));
  const Remedy later = remedy_of_filling_cache(shown.measurements);
  book.phrase(fmt::format("{}: `{}`", later.sentence, later.command));
}

void add_causes(Case& shown, Book& book) {
  book.heading("Cause, and its limit under -v");
  PipelineJudgement& judged = shown.diagnosis.judgement.pipelines[0];
  const HostMeasurement& host = shown.measurements.hosts[0];
  const PipelineView view{host, host.pipelines[0], judged};
  for (const JudgedLimit& limit : all_limits(judged.culprit)) {
    judged.limit = limit;
    book.phrase(
        fmt::format("{} ({})", describe_cause({view, judged.culprit, {}, false, {}}), describe_limit(host, limit)));
  }
  judged.limit = {};
  book.phrase(describe_cause({view, judged.culprit, {}, true, {}}));
  judged.chosen_by = ChosenBy::model;
  book.phrase(describe_cause({view, judged.culprit, {}, false, {}}));
  judged.cost = {InputCost::Takes::cores, 1.9};
  book.phrase(describe_cause({view, judged.culprit, {}, false, {}}));
  book.phrase(describe_cause({view, kNoIterator, {}, false, {}}));
}

void add_patterns(Book& book) {
  book.heading("What batches do over time");
  PipelineMeasurement pipeline;
  pipeline.calls.resize(30, {0, 1});
  Stalls stalls;
  stalls.count = 5;
  stalls.shortest = stalls.longest = stalls.typical = 74 * kMillisecond;
  stalls.usual = kMillisecond / 10;
  for (const bool is_regular : {true, false}) {
    stalls.is_regular = is_regular;
    stalls.distance = 6;
    pipeline.stalls = stalls;
    book.phrase(describe_pattern(pipeline));
  }
  stalls.epoch_starts = 5;
  stalls.longest = 300 * kMillisecond;
  pipeline.stalls = stalls;
  book.phrase(describe_pattern(pipeline));
  pipeline.stalls.reset();
  pipeline.pace_change = PaceChange{40, kMillisecond / 10, 12 * kMillisecond, 0.02, 0.68, kNoIterator};
  book.phrase(describe_pattern(pipeline));
}

void add_gains(Book& book) {
  book.heading("Speed and gains");
  for (const RateSource source : {RateSource::model, RateSource::recorded, RateSource::clocked}) {
    book.phrase(describe_rates({60, 179, source}));
  }
  Gain gain;
  gain.now = 60;
  gain.then.estimate = 90;
  gain.then.low = 74;
  gain.then.high = 102;
  for (const Condition condition :
       {Condition::none, Condition::fits_in_memory, Condition::python_releases_lock, Condition::runs_on_batches,
        Condition::does_not_need_map, Condition::comes_from_files}) {
    gain.then.condition = condition;
    book.phrase(describe_gain(gain));
  }
  book.heading("Why a gain is not known");
  for (const NoGainBecause because :
       {NoGainBecause::too_many_events, NoGainBecause::too_few_calls, NoGainBecause::too_few_elements,
        NoGainBecause::no_threads, NoGainBecause::no_consumer, NoGainBecause::no_iterators,
        NoGainBecause::rate_not_reproduced, NoGainBecause::unknown_change, NoGainBecause::too_many_changes}) {
    book.phrase(describe(because));
  }
}

TEST_CASE("the phrase book has every sentence that is made of an answer") {
  Case shown = input_bound_case();
  Book book{"# Phrase book\n\nEvery sentence that a report makes of a fact. A test writes this page.\n"};
  add_verdicts(shown, book);
  add_doubts(shown, book);
  add_causes(shown, book);
  add_patterns(book);
  add_gains(book);
  golden::compare(book.text, source_dir() + "/testdata/outputs/phrase-book.md");
}

}  // namespace
}  // namespace doctor::golden_phrases_test
