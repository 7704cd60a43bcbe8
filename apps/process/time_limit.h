#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace doctor {

/// From now on the program may take so long: then a line on standard error says how far it came, and it ends with
/// kExitFailure. Starts a thread that sleeps until then.
void limit_time(std::chrono::seconds most);

/// Does something short while no thread watches the time: what it takes from this thread, those that start after it
/// do not have either.
void do_unwatched(const std::function<void()>& work);

/// Seconds that limit_time() allows; nothing without a limit.
std::optional<std::chrono::seconds> time_limit();

/// Whether that time is over. What can end by itself asks, and has a moment (kGrace) for it.
bool is_time_over();

}  // namespace doctor
