#pragma once

#include <string_view>

namespace doctor {

/// Whether a user's SQL may call it: the functions of SQLite that compute and nothing else (lang_corefunc,
/// lang_aggfunc, lang_datefunc, lang_mathfunc, windowfunctions and json1 of its documentation), in any case of letters.
/// What is built in beyond them depends on who built it: Debian's fts3_tokenizer() takes an address.
bool is_allowed_function(std::string_view name);

}  // namespace doctor
