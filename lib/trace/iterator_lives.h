#pragma once

#include "trace/trace.h"

namespace doctor {

/// The runtime derives an iterator's id from its long name and its address, so what is made later may get the id of
/// what is gone: in later epochs the same ids come again, below the same parents or below others, and even those of
/// another pipeline. Afterwards an instance is one object: (long name, id, parent id) and a lifetime.
///
/// A pipeline has a new life where it is made: before the first call of its outermost iterator, where that calls
/// another input than before, or where the window shows a making that no other pipeline needs. What stands below lives
/// as long.
///
/// Also finds which making (Trace::makings) made each outermost instance.
void tell_lives_apart(Trace& trace);

}  // namespace doctor
