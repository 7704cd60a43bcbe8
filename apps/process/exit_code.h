#pragma once

namespace doctor {

// The exit statuses of the program; scripts rely on them.
inline constexpr int kExitClean = 0;    ///< analysed, nothing at or above --fail-on, no budget exceeded
inline constexpr int kExitFinding = 1;  ///< analysed, a finding at or above --fail-on or a budget exceeded
inline constexpr int kExitFailure = 2;  ///< wrong usage, unreadable input, unwritable output, too little memory
inline constexpr int kExitNothing =
    3;  ///< nothing to judge: no tf.data events, too little evidence, a budget not evaluated

}  // namespace doctor
