#include "analysis.h"
#include "commands.h"
#include "exit_code.h"
#include "report/report.h"

namespace doctor {

int run_show(const Options& options) {
  const auto render = [&](const Analysis& analysis) {
    return options.format == OutputFormat::json ? render_tree_json(analysis.measurements, analysis.diagnosis)
                                                : render_tree_text(analysis.measurements, analysis.diagnosis);
  };
  // Numbers are shown, nothing is judged: findings do not count here.
  return run_page(options, render, [](const Analysis& analysis) {
    return shows_tf_data(analysis.measurements) ? kExitClean : kExitNothing;
  });
}

}  // namespace doctor
