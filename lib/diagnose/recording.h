#pragma once

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"
#include "trace/torn.h"

namespace doctor {

/// Ten steps show what every step waits for; a stall that comes every 20 needs more to show.
inline constexpr std::size_t kStepsToRecord = 30;

/// The step that a longer recording begins with: that of the script where the Python package recorded it.
std::uint64_t first_step_to_record(const Measurements& measurements);

/// The command that records these steps of the script: "python -m tfdata_doctor --batches 11-60 train.py", with the
/// name of the script where it is known. PyTorch's profiler is told so in the script.
std::string recording_command(const Measurements& measurements, std::uint64_t first, std::uint64_t last);

/// The command that records steps of the first epoch and of a later one.
std::string recording_command_of_epochs(const Measurements& measurements);

/// What records `steps` training steps: the command of the script where the Python package recorded it, else Python. In
/// that, GetNext stands inside of the step markers: outside of them the time that a step waits for its data would be in
/// no step.
std::string recording_code(const Measurements& measurements, std::size_t steps);

/// How many steps to record where those of this trace are too few: three times as many, and not fewer than
/// kStepsToRecord.
std::size_t steps_to_record(const Measurements& measurements);

/// The first torn file of the run; nullopt if no file is torn.
std::optional<doubts::TornFile> torn_file(const Measurements& measurements);

/// The most that can be believed of what a torn file does not show: less than an even chance.
inline constexpr double kMostCoverageOfTorn = 0.45;

}  // namespace doctor
