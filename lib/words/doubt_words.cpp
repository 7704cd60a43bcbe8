#include "words/doubt_words.h"

#include <fmt/format.h>

#include "diagnose/loaders.h"
#include "diagnose/recording.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"
#include "trace/torn.h"

namespace doctor {
namespace {

/// A stall that comes every 20 steps shows twice in so many.
constexpr std::size_t kStepsThatShowStalls = 50;

std::string batches(std::size_t count) {
  return count == 1 ? "1 batch" : format_count(count) + " batches";
}

std::string were(std::size_t count) {
  return count == 1 ? "was" : "were";
}

struct Clause {
  const Measurements& measurements;

  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(doubts::OneStep) const {
    return "only one step was recorded, and there is no other to compare it with";
  }
  std::string operator()(const doubts::SlowedByTracing& doubt) const {
    return fmt::format("recording slowed the job down: without it, steps would be about {:.1f}x as fast", doubt.factor);
  }
  std::string operator()(const doubts::BusyMachine& doubt) const {
    return fmt::format("other programs kept {:.1f} of the {} cores busy", doubt.cores_of_others, doubt.cores);
  }
  std::string operator()(const doubts::LateSteps& doubt) const {
    return fmt::format("steps lose {} of the time while data is prepared on the same cores, perhaps because of it",
                       format_share(doubt.share));
  }
  std::string operator()(const doubts::PythonLock& doubt) const {
    return fmt::format("preparing data runs Python {} of the time, and may hold the lock that training needs",
                       format_share(doubt.share));
  }
  std::string operator()(const doubts::CoresInUse& doubt) const {
    return fmt::format("preparing data keeps {:.1f} of {} cores busy while all of them are in use",
                       doubt.cores_of_input, doubt.cores);
  }
  std::string operator()(const doubts::NoLeader& doubt) const {
    return fmt::format("in the {} that were recorded, no part of the pipeline stands out as the slowest",
                       batches(doubt.calls));
  }
  std::string operator()(const doubts::OtherProcesses& doubt) const {
    return fmt::format("worker processes of {} make the batches, and the trace shows only the process that trains",
                       doubt.loader);
  }
  std::string operator()(const doubts::KeptElements& doubt) const {
    return fmt::format("Grain keeps {} elements ready, and the recording may show only those", doubt.kept);
  }
  std::string operator()(const doubts::SeldomStall& doubt) const {
    return fmt::format("only {} {} recorded: a stall every 20 steps would not show", batches(doubt.calls),
                       were(doubt.calls));
  }
  std::string operator()(const doubts::FewCalls& doubt) const {
    return fmt::format("only {} {} recorded{}", batches(doubt.calls), were(doubt.calls),
                       doubt.has_cadence ? "" : ", and the trace does not show how long a step takes");
  }
  std::string operator()(const doubts::OutsideTrace& doubt) const {
    return fmt::format("the recording does not show what {} of the waiting was for", format_share(doubt.share));
  }
  std::string operator()(doubts::OnlyModelled) const { return "the cost of preparing data is computed, not seen"; }
  std::string operator()(const doubts::OneCallDecides& doubt) const {
    return fmt::format(
        "one batch of {} decides the verdict: training waits {} of the time, but {} without the {} of batch {}",
        doubt.calls, format_share(doubt.share), format_share(doubt.share_without), format_time(doubt.length),
        doubt.call);
  }
  std::string operator()(const doubts::SlowStart& doubt) const {
    return fmt::format("with the slow first batches training waits {} of the time, without them {}",
                       format_share(doubt.share_with), format_share(doubt.share_without));
  }
  std::string operator()(const doubts::NearLimit& doubt) const {
    return fmt::format(
        "{} {} recorded, and they differ: training waits between {} and {} of the time, and a job is "
        "input-bound from {} on",
        batches(doubt.calls), were(doubt.calls), format_share(std::max(0.0, doubt.share - doubt.spread)),
        format_share(std::min(1.0, doubt.share + doubt.spread)), format_share(doubt.limit));
  }
  std::string operator()(const doubts::WholeRunDecides& doubt) const {
    return fmt::format("that is of all {}; the recorded ones wait {}, so the trace hardly shows why",
                       format_count(doubt.steps, "step"), format_share(doubt.recorded_share));
  }
  std::string operator()(const StoredElements& stored) const {
    return fmt::format(
        "{} of the {} recorded batches were ready before the recording began, and only {} {} made "
        "meanwhile",
        stored.taken - stored.made, stored.taken, stored.made, were(stored.made));
  }
  std::string operator()(const OtherSteps& other) const {
    return fmt::format("the {} that were not recorded took {:.1f}x as long as the recorded ones",
                       format_count(other.steps, "step"), other.times_as_long);
  }
  std::string operator()(const doubts::UnreadDevice& doubt) const {
    if (doubt.unread_events > 0) {
      return fmt::format("{} of {} are of kinds unknown to this tool, so it may have computed while training waited",
                         format_count(doubt.unread_events, "event"), doubt.device);
    }
    const std::string devices = doubt.devices == 1 ? doubt.device : format_count(doubt.devices, "device");
    if (is_of_torch(measurements)) {
      return fmt::format("this tool does not read what {} did, which may have computed while training waited", devices);
    }
    return fmt::format("the trace shows no work of {}, which may have computed while training waited", devices);
  }
  std::string operator()(const doubts::TornFile& doubt) const {
    const HostMeasurement& torn = measurements.hosts[doubt.host];
    return fmt::format("{} {}: {}", measurements.hosts.size() > 1 ? name_of_files(torn) : "the file",
                       describe_tear(torn.loss), effect_of_tear(torn.loss));
  }
};

struct Cure {
  const Measurements& measurements;

  Remedy operator()(std::monostate) const { return {}; }
  Remedy operator()(doubts::OneStep) const { return record(kStepsThatShowStalls); }
  Remedy operator()(const doubts::SlowedByTracing&) const {
    return {"Compare with the steps/s of a run that is not recorded", {}};
  }
  Remedy operator()(const doubts::BusyMachine&) const { return {"Record again on an idle machine", {}}; }
  Remedy operator()(const doubts::LateSteps&) const { return train_without_input(); }
  Remedy operator()(const doubts::PythonLock&) const { return train_without_input(); }
  Remedy operator()(const doubts::CoresInUse&) const { return train_without_input(); }
  Remedy operator()(doubts::OnlyModelled) const { return train_without_input(); }
  Remedy operator()(const doubts::NoLeader& doubt) const { return record_more(doubt.calls); }
  Remedy operator()(const doubts::SeldomStall& doubt) const { return record_more(doubt.calls); }
  Remedy operator()(const doubts::FewCalls& doubt) const { return record_more(doubt.calls); }
  Remedy operator()(const doubts::OneCallDecides& doubt) const { return record_more(doubt.calls); }
  Remedy operator()(const doubts::NearLimit& doubt) const { return record_more(doubt.calls); }
  Remedy operator()(const doubts::OutsideTrace&) const { return record(kStepsThatShowStalls); }
  Remedy operator()(const doubts::SlowStart&) const { return record(kStepsThatShowStalls); }
  Remedy operator()(const doubts::OtherProcesses&) const {
    return {"Record without worker processes to see which part takes the time", {}};
  }
  Remedy operator()(const doubts::KeptElements& doubt) const {
    return {fmt::format("Record more steps than {} divided by the batch size", 2 * doubt.kept), {}};
  }
  Remedy operator()(const doubts::WholeRunDecides& doubt) const {
    return {"Record the steps that wait", recording_command(measurements, doubt.worst_first, doubt.worst_last)};
  }
  Remedy operator()(const StoredElements& stored) const { return record(stored.steps_to_record); }
  Remedy operator()(const OtherSteps& other) const {
    return {"Record the steps that take longest", recording_command(measurements, other.worst_first, other.worst_last)};
  }
  Remedy operator()(const doubts::UnreadDevice&) const {
    return {"While it computes, the waiting costs nothing: compare with 'nvidia-smi' or the device's own monitor", {}};
  }
  Remedy operator()(const doubts::TornFile& doubt) const {
    return {std::string(cure_of_tear(measurements.hosts[doubt.host].loss)), {}};
  }

 private:
  Remedy record_more(std::size_t calls) const {
    constexpr std::size_t kTimes = 3;
    return record(std::max(kStepsThatShowStalls, kTimes * calls));
  }
  Remedy record(std::uint64_t steps) const {
    const bool has_sessions = std::any_of(measurements.hosts.begin(), measurements.hosts.end(),
                                          [](const HostMeasurement& host) { return host.has_session_runs; });
    if (has_sessions) return {"Trace ten session runs or more, with trace_level=tf.RunOptions.FULL_TRACE", {}};
    const std::uint64_t first = first_step_to_record(measurements);
    return {fmt::format("Record {} or more", steps), recording_command(measurements, first, first + steps - 1)};
  }
  Remedy train_without_input() const {
    const bool is_of_loader = std::any_of(measurements.hosts.begin(), measurements.hosts.end(), [](const auto& host) {
      return std::any_of(host.pipelines.begin(), host.pipelines.end(), [&](const PipelineMeasurement& pipeline) {
        return batch_making_of(host, pipeline) != nullptr && !pipeline.next_of.empty();
      });
    });
    if (is_of_loader) return {"Compare with the steps/s on one batch that is kept", {}};
    return {"Compare with the steps/s on dataset.take(1).cache().repeat()", {}};
  }
};

}  // namespace

std::string describe_doubt(const Doubt& doubt, const Measurements& measurements) {
  return std::visit(Clause{measurements}, doubt);
}

Remedy remedy_of(const Doubt& doubt, const Measurements& measurements) {
  return std::visit(Cure{measurements}, doubt);
}

Remedy remedy_of_filling_cache(const Measurements& measurements) {
  return {"Record a later epoch as well", recording_command_of_epochs(measurements)};
}

std::string describe_filling_cache(const HostMeasurement& host, const CacheFill& fill) {
  return fmt::format(
      "this is a first epoch: {} is being filled ({} of {} read its input), and the steps before it cost nothing "
      "from the second epoch on",
      describe(host, fill.iterator), format_count(fill.input_calls), format_count(fill.calls, "call"));
}

}  // namespace doctor
