#include <fmt/format.h>

#include <algorithm>

#include "diagnose/fix_advice.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/interleaving.h"

namespace doctor::rules::slow_source {
namespace {

AdviceText cautions() {
  return {"Have several files, each large enough to be worth opening",
          "Keep the order (leave out what makes it not deterministic) where it must be the same in every run."};
}

/// What reads several files at once already; kNoIterator if nothing does.
IteratorId parallel_reader_of(const RankedPipeline& ranked) {
  return ranked.host.first_above(ranked.judgement.culprit, std::mem_fn(&IteratorMeasurement::is_parallel_interleave));
}

/// Of twice as many files as now at once; nullopt where the trace does not show how many.
std::optional<Fix> fix_for_more_files(const RankedPipeline& ranked, IteratorId reader) {
  constexpr std::int64_t kSane = 1 << 20;  // a damaged trace may say anything
  const std::int64_t cycle = ranked[reader].number("cycle_length").value_or(0);
  if (cycle <= 0 || cycle >= kSane) return std::nullopt;
  return Fix{FixKind::parallel_interleave, reader, 2 * cycle, 2 * cycle};
}

Advice advice_for_more_files(const RankedPipeline& ranked, IteratorId parallel_reader, std::string_view reader) {
  const std::optional<Fix> fix = fix_for_more_files(ranked, parallel_reader);
  return {
      {"Read more files at once, with a higher cycle_length",
       "Keep the data near this machine, and store less: drop unused fields, and compress only if the network is the "
       "limit."},
      fmt::format("dataset = filenames.interleave(\n"
                  "    {}, cycle_length={},\n"
                  "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
                  reader, fix ? fmt::format("{}", *fix->cycle_length) : std::string("n")),
      fix ? std::vector<Fix>{*fix} : std::vector<Fix>{}};
}

/// Reading several files at once is a parallel interleave: of the one that takes them one after another, be it the
/// user's or the source's own.
std::vector<Fix> fixes_for_files(const RankedPipeline& ranked) {
  const std::vector<IteratorId> above = ranked.host.iterators_above(ranked.judgement.culprit);
  if (above.empty()) return {};
  const auto is_interleave = [&](IteratorId id) { return ranked[id].has(Trait::interleave); };
  const bool is_users = above.size() > 1 && ranked[above[0]].is_sequential(Trait::flat_map) && is_interleave(above[1]);
  const IteratorId taker = is_users ? above[1] : above[0];
  if (!is_interleave(taker) && !ranked[taker].is_sequential(Trait::flat_map)) return {};
  return {{FixKind::parallel_interleave, taker, {}, cycle_to_set(ranked.host, taker)}};
}

std::vector<Advice> advice_for_files(const RankedPipeline& ranked, std::string_view reader) {
  if (const IteratorId parallel = parallel_reader_of(ranked); parallel != kNoIterator) {
    return {advice_for_more_files(ranked, parallel, reader), {cautions(), std::nullopt}};
  }
  const std::vector<Fix> fixes = fixes_for_files(ranked);
  return {{{"Read several files in parallel", "Split the data into several files if it is in one."},
           fmt::format("dataset = tf.data.Dataset.from_tensor_slices(filenames).interleave(\n"
                       "    {},\n"
                       "    {}num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
                       reader, fixes.empty() ? std::string() : cycle_argument(fixes.front())),
           fixes},
          {cautions(), std::nullopt}};
}

/// Reading in parallel does not make a listing shorter.
std::vector<Advice> advice_for_listing() {
  return {{{"List the files once, before training",
            "Read their names from a manifest: listing them takes the time, not reading them."},
           "with tf.io.gfile.GFile(manifest, 'w') as names:  # once, before training\n"
           "  names.write('\\n'.join(sorted(tf.io.gfile.glob(file_pattern))))\n"
           "\n"
           "filenames = tf.data.TextLineDataset(manifest)  # in place of list_files"},
          {{"Have fewer and larger files", "Each name costs its share of a request, and each file is opened anew."},
           std::nullopt}};
}

/// What the client of tf.data service can change; its workers have traces of their own.
std::vector<Advice> advice_for_service() {
  return {{{"Add workers to tf.data service, if its workers are busy",
            "The elements come from there: profile one to see what holds it up. If they are not busy, take more "
            "elements at once, and leave compression out where the network is fast."},
           "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
           "    processing_mode='distributed_epoch', service=service,\n"
           "    max_outstanding_requests=32, compression=None))"},
          {{"Let each element be made once, with 'distributed_epoch'",
            "With processing_mode='parallel_epochs' each worker makes all of them, in an order of its own."},
           std::nullopt}};
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  if (ranked.culprit().maker.ends_with("make_csv_dataset")) {
    return {{{"Let make_csv_dataset read more files at once", "Columns that select_columns leaves out are not parsed."},
             "dataset = tf.data.experimental.make_csv_dataset(\n"
             "    file_pattern, batch_size, num_parallel_reads=tf.data.AUTOTUNE)"}};
  }
  if (ranked.culprit().has(Trait::lists_files)) return advice_for_listing();
  const std::string_view reader = reader_expression(ranked.culprit());
  if (!reader.empty()) return advice_for_files(ranked, reader);
  const Source source = ranked.culprit().kind().source;
  if (source == Source::service) return advice_for_service();
  if (source == Source::python) {
    return {{{"See python-generator", "A Python generator makes one element at a time."}, std::nullopt}};
  }
  if (source == Source::memory) {
    if (std::optional<Advice> rows = advice_for_rows(ranked.host, ranked.judgement.culprit)) return {*std::move(rows)};
    return {{{"Slice batches instead of single elements",
              "Every element is copied out of one large tensor. Or write the data to files and read them in parallel."},
             "dataset = tf.data.Dataset.range(0, count, batch_size).map(\n"
             "    lambda first: data[first:first + batch_size], num_parallel_calls=tf.data.AUTOTUNE)"}};
  }
  return {{{"Read several parts of the data at once", "Make one dataset for each part and interleave them."},
           code_to_interleave_parts({})},
          {cautions(), std::nullopt}};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  if (!examiner.holds(culprit_is(ranked, "a source"), ranked.culprit().is_source)) return std::nullopt;
  Finding finding = culprit_finding(ranked, culprit_part(ranked) + ", a source");
  finding.evidence.push_back(number_of("calls", ranked.culprit().calls, "calls"));
  finding.advice = advice_for(ranked);
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "slow-source",
          .summary = "The job waits for a source dataset: reading or making the raw data",
          .follows = {references::kSourceDatasets, references::kParallelExtraction},
          .thresholds = {},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::slow_source
