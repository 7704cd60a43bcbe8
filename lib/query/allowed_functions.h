#pragma once

#include <string_view>

namespace doctor {

/// Tests whether a user's SQL may call the function: those of SQLite that compute and nothing else (lang_corefunc,
/// lang_aggfunc, lang_datefunc, lang_mathfunc, windowfunctions and json1 of its documentation), in any case of letters.
/// Other built-in functions depend on who built SQLite: Debian's fts3_tokenizer() takes an address.
bool is_allowed_function(std::string_view name);

}  // namespace doctor
