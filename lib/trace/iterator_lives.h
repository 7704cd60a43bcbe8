#pragma once

#include "trace/trace.h"

namespace doctor {

/// Makes each instance one object: (long name, id, parent id) and a lifetime. The runtime derives an iterator's id from
/// its long name and address, so a new object may get the id of one that is gone. In later epochs the same ids come
/// again, below the same parents or others, even as those of another pipeline.
///
/// A pipeline begins a new life where it is made: before the first call of its outermost iterator, where that iterator
/// calls another input than before, or where the window shows a creation that no other pipeline needs. Everything below
/// lives as long.
///
/// Also finds which creation (Trace::makings) made each outermost instance.
void tell_lives_apart(Trace& trace);

}  // namespace doctor
