#pragma once

#include <cerrno>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// What a broker keeps for the process that asks it.
struct BrokerTask {
  std::vector<std::string> files = {};  ///< those that may be replaced or appended to, as they were named
  std::vector<std::string> temporary_folders =
      {};  ///< which it removes, with the files in them, once nobody asks any more
  /// Those that are made, or were begun by another program. Which it removes then where they are still empty, were not
  /// there before, and nobody else has them.
  std::vector<std::string> empty_databases = {};
};

/// A process that writes in the name of another one. What reads foreign bytes gives up its right to make, rename and
/// remove files, and keeps this: it may ask, for a file that was named before the first byte was read, for a descriptor
/// to write to, and that what it wrote takes the file's name. The broker reads nothing but these requests, which are
/// two numbers each. It outlives whoever asks, killed or not, for as long as it takes to tidy up, and ten seconds at
/// most.
class OutputBroker {
 public:
  /// Forks it, while there are no threads. Not running where no process can be had: error() says why.
  explicit OutputBroker(BrokerTask task);
  OutputBroker(const OutputBroker&) = delete;
  OutputBroker& operator=(const OutputBroker&) = delete;
  /// Waits until the broker has tidied up.
  ~OutputBroker();

  bool is_running() const { return socket_.is_open(); }
  int error() const { return error_; }

  /// Whether the file is one of the task's.
  bool knows(const std::string& path) const;

  /// These answer with 0 or an error number (broker_error()). begin(): a file to write to, which takes the place of
  /// `path` with finish().
  int begin(const std::string& path, FileDescriptor& file) const;
  int finish(const std::string& path) const;

  /// The file, made where there is none, to be appended to.
  int append(const std::string& path, FileDescriptor& file) const;

  /// The file, made where there is none, to be read and locked. One that was made so, and stays empty, is removed at
  /// the end.
  int open(const std::string& path, FileDescriptor& file) const;

 private:
  std::vector<std::string> make_databases();
  bool fork_broker(const std::vector<std::string>& made);
  int ask(unsigned action, const std::string& path, FileDescriptor* file) const;

  BrokerTask task_;
  std::vector<FileDescriptor> held_;  ///< the empty databases, locked for as long as somebody may fill them
  FileDescriptor socket_;
  int process_ = -1;
  int error_ = 0;
};

/// The error number where a broker does not answer in time; no call that it makes has it.
inline constexpr int kNoBrokerAnswer = ETIME;

/// What an error number of a broker says of a file.
Error broker_error(const std::string& path, int error);

/// That of this process; nullptr where it has none. A process that is forked later does not have it.
const OutputBroker* output_broker();

/// Starts it for this process. Errors: no process can be had.
Result<void> start_output_broker(BrokerTask task);

}  // namespace doctor
