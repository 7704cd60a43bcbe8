#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace doctor {

/// Limits the time of the program from this call on. At the end a line on standard error says how far it came, and it
/// ends with kExitFailure. Starts a thread that sleeps until then.
void limit_time(std::chrono::seconds most);

/// Does something short while no thread watches the time. Rights that it gives up in this thread are then missing in
/// threads that start later, too.
void do_unwatched(const std::function<void()>& work);

/// The seconds that limit_time() allows; nullopt without a limit.
std::optional<std::chrono::seconds> time_limit();

/// Tests whether that time is over. Work that can end by itself asks, and has a moment (kGrace) for it.
bool is_time_over();

}  // namespace doctor
