#pragma once

#include "base/result.h"
#include "diagnose/whatif.h"

namespace doctor {

// A ceiling that was measured: recordings of the same loop on elements that are ready.

/// The rate of one such recording. Steps a second.
struct IdealRate {
  double traced = 0;               ///< as recorded
  std::optional<double> untraced;  ///< without the cost of tracing, where the model reproduces the recording
};

/// The rate of the slowest host, for whom all others wait; nullopt where no host shows steps of a consumer.
std::optional<IdealRate> ideal_rate(const Measurements& measurements);

/// Why the recording at `where` measures no ceiling: it shows no such steps.
Error no_ideal_steps(std::string where);

/// All of them together.
struct IdealRun {
  std::string source;  ///< as the user named it; foreign text
  std::size_t recordings = 0;
  IdealRate rate;  ///< medians; untraced only if all are
};

IdealRun ideal_run(std::string source, std::span<const IdealRate> rates);

/// How far it is from a rate to the ideal.
struct IdealGap {
  double from = 0;
  double to = 0;
  bool is_traced = false;  ///< both are with the cost of tracing

  double size() const { return to - from; }
  /// Whether there is one: what is smaller cannot be told from noise.
  bool is_open() const { return from > 0 && to >= kLeastGain * from; }
  /// Which part of an open gap a rate closes: 0 to 1.
  double closed_by(double rate) const;
};

/// The gap of a host that has predictions. Without the cost of tracing if that is known of both.
IdealGap gap_to(const IdealRun& ideal, const HostPredictions& host);

}  // namespace doctor
