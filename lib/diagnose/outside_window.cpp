#include "diagnose/judgement_passes.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

bool keeps_up(const PipelineJudgement& judgement) {
  return judgement.level == InputLevel::not_bound || judgement.level == InputLevel::mild;
}

/// Of a buffer: with fewer, one element more or less decides.
constexpr std::uint64_t kLeastTaken = 10;

/// The nearest prefetch below the consumer, over what only passes elements on; kNoIterator: there is none.
IteratorId last_prefetch(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  IteratorId id = pipeline.root;
  for (std::size_t depth = 0; id != kNoIterator && depth < host.iterators.size(); ++depth) {
    const IteratorMeasurement& iterator = host.iterators[id];
    if (iterator.has(Trait::prefetch)) return id;
    const bool passes_on = iterator.has(Trait::frame | Trait::passes_on);
    if (!passes_on || iterator.children.size() != 1) return kNoIterator;
    id = iterator.children.front();
  }
  return kNoIterator;
}

StoredElements elements_of_prefetch(const HostMeasurement& host, const IteratorMeasurement& prefetch) {
  StoredElements stored;
  stored.taken = prefetch.calls;
  for (const IteratorId child : prefetch.children) stored.made += host.iterators[child].calls;
  const std::int64_t limit = std::max<std::int64_t>(0, last_number(prefetch, "buffer_limit").value_or(0));
  stored.steps_to_record = 2 * std::max(stored.taken, static_cast<std::uint64_t>(limit));
  return stored;
}

/// Of a queue between workers and the consumer's calls. A trace does not show how many batches it holds, but Grain says
/// how many elements.
StoredElements batches_of_queue(const BatchMaking& making, const PipelineMeasurement& pipeline) {
  StoredElements stored;
  stored.taken = pipeline.calls.size();
  stored.made = making.made_in({pipeline.calls.front().start, pipeline.calls.back().end});
  const double limit = static_cast<double>(making.options.buffer.value_or(0)) / making.elements_per_batch;
  stored.steps_to_record = 2 * std::max(stored.taken, static_cast<std::uint64_t>(std::max(0.0, limit)));
  return stored;
}

/// What the last buffer before the consumer gave out and took in; nullopt if there is none.
std::optional<StoredElements> stored_elements(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId prefetch = last_prefetch(host, pipeline);
  if (prefetch != kNoIterator) return elements_of_prefetch(host, host.iterators[prefetch]);
  const BatchMaking* const making = batch_making_of(host, pipeline);
  if (making == nullptr || !making->has_queue || pipeline.calls.empty()) return std::nullopt;
  return batches_of_queue(*making, pipeline);
}

/// A buffer that gives out more than it takes in runs empty: what makes its elements may pause for longer than the
/// window.
void doubt_stored_elements(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (!keeps_up(judgement) || evidence.pipeline.feeds_another) return;
  const std::optional<StoredElements> stored = stored_elements(evidence.host, evidence.pipeline);
  if (!stored || stored->taken < kLeastTaken) return;
  const double left = static_cast<double>(stored->taken) * (1 - evidence.thresholds["max_stored_share"]);
  if (static_cast<double>(stored->made) >= left) return;
  judgement.level = InputLevel::unknown;
  judgement.doubt = *stored;
}

/// Recording only slows steps down: where others take longer, something holds them up that the window does not show.
void doubt_other_steps(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (!evidence.host.recording.other_steps || !keeps_up(judgement) || !makes_steps(evidence.host, evidence.pipeline))
    return;
  if (evidence.host.recording.other_steps->extra_share() < evidence.thresholds["min_share"]) return;
  judgement.level = InputLevel::unknown;
  judgement.doubt = *evidence.host.recording.other_steps;
}

/// What is left where a device may have worked through the waits: less than what counts as sure (0.7).
constexpr double kDoubtOfUnreadDevice = 0.65;

/// Tracks that tools add beside the devices are not devices. Source: kCustomPlanePrefix of tsl/profiler/utils.
bool is_accelerator(const std::string& device) {
  return !device.starts_with("/device:CUSTOM:");
}

/// Why it is not known what the devices of a host did while its consumer waited: they are named and show no work, or
/// work that is not understood. nullopt where it is known, and where the trace names no device.
std::optional<doubts::UnreadDevice> unread_device(const HostMeasurement& host) {
  if (!host.device_profile.is_aligned) return std::nullopt;  // a TF1 timeline shows no waits beside its devices
  const auto named = static_cast<std::size_t>(std::count_if(host.devices.begin(), host.devices.end(), is_accelerator));
  if (named == 0) return std::nullopt;
  const std::vector<DeviceActivity>& devices = host.device_profile.devices;
  const auto unread =
      std::find_if(devices.begin(), devices.end(), [](const DeviceActivity& device) { return device.is_unread(); });
  if (unread != devices.end()) return doubts::UnreadDevice{unread->name, 1, unread->unread_count};
  const bool is_known = std::any_of(devices.begin(), devices.end(),
                                    [](const DeviceActivity& device) { return !device.computing.empty(); });
  if (is_known) return std::nullopt;
  return doubts::UnreadDevice{*std::find_if(host.devices.begin(), host.devices.end(), is_accelerator), named, 0};
}

}  // namespace

void doubt_what_window_hides(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  doubt_stored_elements(evidence, judgement);
  doubt_other_steps(evidence, judgement);
}

void doubt_unread_devices(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (judgement.level != InputLevel::bound) return;
  const std::optional<doubts::UnreadDevice> unread = unread_device(evidence.host);
  if (!unread) return;
  judgement.confidence.device = kDoubtOfUnreadDevice;
  judgement.doubt = *unread;
}

}  // namespace doctor
