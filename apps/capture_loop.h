#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "analysis.h"
#include "capture/capture.h"
#include "capture_process.h"
#include "diagnosis_page.h"

namespace doctor {

struct CaptureLoopOptions {
  CaptureOptions capture;
  DiagnosisOptions diagnosis;
  std::string log_directory;                       ///< as the user named it
  std::optional<std::chrono::milliseconds> every;  ///< from one beginning to the next; nullopt: one capture
  std::optional<std::size_t> count;                ///< of captures; nullopt: until a signal comes
  bool keeps_only_changes = false;
};

/// Captures, diagnoses what it got, writes the report; once, or again and again.
class CaptureLoop {
 public:
  explicit CaptureLoop(const CaptureLoopOptions& options);

  /// Ends early if a signal comes: interrupting_signal() tells. The exit status of the last capture; nullopt if none
  /// came to its end.
  std::optional<int> run();

 private:
  /// What a verdict is compared by.
  struct VerdictKey {
    std::string_view status;
    std::string culprit;  ///< long name; empty if there is none

    friend bool operator==(const VerdictKey&, const VerdictKey&) = default;
  };
  static VerdictKey key_of(const Analysis& analysis);

  std::optional<int> capture();
  int report(const std::string& folder, std::vector<Error> absent);
  int report_failure(const std::vector<Error>& absent) const;
  OutputOptions metrics_alone() const;

  const CaptureLoopOptions& options_;
  CaptureProcess process_;
  std::optional<VerdictKey> last_verdict_;
};

}  // namespace doctor
