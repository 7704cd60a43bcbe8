#pragma once

#include <cerrno>
#include <vector>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// The rights that a broker keeps for the process that asks it.
struct BrokerTask {
  std::vector<std::string> files = {};  ///< files that may be replaced or appended to, as they were named
  std::vector<std::string> temporary_folders =
      {};  ///< folders that it removes, with the files in them, when nobody asks any more
  /// Databases that are made, or were begun by another program. It removes them at the end if they are still empty, did
  /// not exist before, and nobody else has them open.
  std::vector<std::string> empty_databases = {};
};

/// What a broker is asked for a file of its task.
enum class BrokerAction : std::uint32_t {
  begin,   ///< a file to write to, which takes the place of that file with `finish`
  finish,  ///< no descriptor
  append,  ///< that file, for appending; it is created if needed
  open,    ///< the same for reading and locking. A file that was created so and stays empty is removed at the end
  end,     ///< to tidy up
};

/// A process that writes on behalf of another one. The process that reads foreign bytes gives up its right to make,
/// rename and remove files, and keeps the broker. It may ask it, for a file that was named before the first byte was
/// read, for a descriptor to write to, and later to give the written bytes the file's name. The broker reads only these
/// requests, which are two numbers each. It outlives the other process, killed or not, until it has tidied up, and ten
/// seconds at most.
class OutputBroker {
 public:
  /// Forks it, while there are no threads. It is not running if no process can be had: error() says why.
  explicit OutputBroker(BrokerTask task);
  OutputBroker(const OutputBroker&) = delete;
  OutputBroker& operator=(const OutputBroker&) = delete;
  /// Waits until the broker has tidied up.
  ~OutputBroker();

  bool is_running() const { return socket_.is_open(); }
  int error() const { return error_; }

  /// Tests whether the file is one of the task's.
  bool knows(const std::string& path) const;

  /// Asks for a file of the task. Returns 0 or an error number (broker_error()).
  int ask(BrokerAction action, const std::string& path, FileDescriptor* file = nullptr) const;

 private:
  std::vector<std::string> make_databases();
  bool fork_broker(const std::vector<std::string>& made);

  BrokerTask task_;
  std::vector<FileDescriptor> held_;  ///< the empty databases, locked for as long as somebody may fill them
  FileDescriptor socket_;
  int process_ = -1;
  int error_ = 0;
};

/// The error number if a broker does not answer in time; no call that it makes has it.
inline constexpr int kNoBrokerAnswer = ETIME;

/// The error for a file, from an error number of a broker.
Error broker_error(const std::string& path, int error);

/// The broker of this process, if the file is one of its task; else nullptr. A process that is forked later does not
/// have it.
const OutputBroker* broker_of(const std::string& path);

/// Starts the broker of this process. Errors: no process can be had.
Result<void> start_output_broker(BrokerTask task);

}  // namespace doctor
