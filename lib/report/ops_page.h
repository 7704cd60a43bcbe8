#pragma once

#include "measure/measurements.h"
#include "text/data_table.h"

namespace doctor {

enum class OpGrouping : std::uint8_t { name, type };

/// `show ops`: what each op cost on the hosts and on the devices, all hosts together. Measurements need their profiles.
struct OpsChoice {
  OpGrouping by = OpGrouping::name;
  bool with_iterators = true;
  bool with_idle = false;  ///< a row IDLE for each side, and shares of the time with it
};

/// Most self time first, the devices' ops before the hosts', as the guide's tool has them. Each side has shares of its
/// own self time.
DataTable ops_table(const Measurements& measurements, const OpsChoice& choice);

}  // namespace doctor
