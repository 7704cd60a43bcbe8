#pragma once

#include <string>
#include <vector>

#include "io/file_descriptor.h"

namespace doctor {

/// What a broker keeps for the process that asks it.
struct BrokerTask {
  std::vector<std::string> files = {};  ///< those that may be replaced or appended to, as they were named
  std::vector<std::string> temporary_folders =
      {};                                       ///< which it removes, with the files in them, once nobody asks any more
  std::vector<std::string> new_databases = {};  ///< which it removes then where they are empty and nobody else has them
};

/// A process that writes in the name of another one. What reads foreign bytes gives up its right to make, rename and
/// remove files, and keeps this: it may ask, for a file that was named before the first byte was read, for a descriptor
/// to write to, and that what it wrote takes the file's name. The broker reads nothing but these requests, which are
/// two numbers each. It outlives whoever asks, killed or not, for as long as it takes to tidy up.
class OutputBroker {
 public:
  /// Forks it, while there are no threads. Not running where no process can be had: then files are written as without
  /// it.
  explicit OutputBroker(BrokerTask task);
  OutputBroker(const OutputBroker&) = delete;
  OutputBroker& operator=(const OutputBroker&) = delete;
  /// Waits until the broker has tidied up.
  ~OutputBroker();

  bool is_running() const { return socket_.is_open(); }

  /// Whether the file is one of the task's.
  bool knows(const std::string& path) const;

  /// These answer with 0 or an error number. begin(): a file to write to, which takes the place of `path` with
  /// finish().
  int begin(const std::string& path, FileDescriptor& file) const;
  int finish(const std::string& path) const;

  /// The file, made where there is none, to be appended to.
  int append(const std::string& path, FileDescriptor& file) const;

  /// The file, made where there is none, to be read, locked against others that change it by its name.
  int lock(const std::string& path, FileDescriptor& file) const;

 private:
  int ask(unsigned action, const std::string& path, FileDescriptor* file) const;

  BrokerTask task_;
  std::vector<FileDescriptor> made_;  ///< the new databases, locked for as long as somebody may fill them
  FileDescriptor socket_;
  int process_ = -1;
};

/// That of this process; nullptr where it has none. A process that is forked later does not have it.
const OutputBroker* output_broker();

/// Starts it for this process.
void start_output_broker(BrokerTask task);

}  // namespace doctor
