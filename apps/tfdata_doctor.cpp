#include <fcntl.h>

#include <csignal>
#include <exception>
#include <new>

#include "base/try.h"
#include "command_line/command_line.h"
#include "commands.h"

namespace {

using namespace doctor;

/// A trace or a temporary file must not be opened under the number of a standard stream that was closed: what is
/// printed would land in it. Opened for reading, so that writing to it fails as it should.
void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

Result<int> run(int count, char** values) {
  const tl::expected<std::variant<Request, ReadyAnswer>, Errors> parsed =
      parse_command_line({values + (count > 0 ? 1 : 0), values + count}, surroundings());
  if (!parsed) {
    for (const Error& error : parsed.error()) print_error(error);
    return kExitFailure;
  }
  if (const ReadyAnswer* const answer = std::get_if<ReadyAnswer>(&*parsed)) return print_page(answer->text, {});
  Request request = std::get<Request>(*parsed);
  const CommandEntry& command = entry_of(request.command);
  const std::size_t seconds = request.number("timeout").value_or(0);
  if (!command.is_timed_by_part && seconds > 0) {
    limit_time(std::chrono::seconds(seconds));
  }
  RETURN_IF_ERROR(fetch_remote_traces(request));
  const CommandVariant* const variant = variant_of(request);
  return variant != nullptr && variant->run != nullptr ? variant->run(request) : command.run(request);
}

}  // namespace

int main(int count, char** values) {
  reserve_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is a write error like any other
  std::signal(SIGXFSZ, SIG_IGN);  // so is a limit on the size of files
  use_small_thread_stacks();
  return_large_blocks();
  end_when_memory_runs_out();
  try {
    const Result<int> status = run(count, values);
    return status ? *status : fail_with(status.error());
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::exception& error) {
    print_error({std::string("internal error: ") + error.what(), {}, {}, "please report it"});
  }
  return kExitFailure;
}
