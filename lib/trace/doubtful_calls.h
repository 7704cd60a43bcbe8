#pragma once

#include "trace/trace.h"

namespace doctor {

/// Adds to Trace::loss what the calls of the trace show that no program can do: they last no time, an element is taken
/// before it is made, a call is in another thread at the same time, or goes on while the same thread makes the next
/// one. Then a profiler, or whatever wrote the file since, lost or changed times. All else of the trace must be there.
void doubt_calls(Trace& trace);

}  // namespace doctor
