#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command_line/options.h"
#include "pipeline.h"

namespace doctor {

/// A page of `show`: an entry in the one table of them.
struct Page {
  std::string_view name;
  std::string_view summary;
  bool has_csv = false;
  bool shows_calls = false;   ///< knows --call and --pipeline
  bool has_top = false;       ///< knows --top
  bool is_table = false;      ///< knows --sort
  bool shows_ops = false;     ///< knows --by and --with-idle
  bool needs_tf_data = true;  ///< has nothing to show of a trace without tf.data

  /// What the page needs beyond a diagnosis.
  AnalysisOptions (*needs)(const Options& options);

  /// Errors: what was asked for is not in the trace.
  Result<std::string> (*render)(const Options& options, const Analysis& analysis);
};

/// All pages, in the order in which the help lists them.
std::span<const Page> pages();

std::vector<std::string_view> page_names();

/// The pages that have it: "'show calls', 'show ops'".
std::string pages_with(bool Page::*ability);

/// The page of that name; null if there is none.
const Page* find_page(std::string_view name);

}  // namespace doctor
