#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include "commands.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"

namespace {

using namespace doctor;

/// A trace or a temporary file must not be opened under the number of a standard stream that was closed: what is
/// printed would land in it. Opened for reading, so that writing to it fails as it should.
void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

int run(const Options& options) {
  if (options.list_runs) return run_list_runs(options);
  switch (options.command) {
    case Command::diagnose:
      return run_diagnose(options);
    case Command::show:
      return run_show(options);
    case Command::compare:
      return run_compare(options);
    case Command::baseline:
      return run_baseline(options);
    case Command::batch:
      return run_batch(options);
    case Command::fleet:
      return run_fleet(options);
    case Command::explain:
      return run_explain(options);
    case Command::rules:
      return run_rules(options);
    case Command::convert:
      return run_convert(options);
    case Command::query:
      return run_query(options);
    case Command::schema:
      return run_schema(options);
    case Command::config:
      return run_config(options);
    case Command::completions:
      return run_completions(options);
    case Command::man:
      return run_man(options);
  }
  return kExitFailure;
}

int run(int count, char** values) {
  const tl::expected<std::variant<Options, Answer>, Errors> parsed =
      parse_command_line({values + (count > 0 ? 1 : 0), values + count}, surroundings());
  if (!parsed) {
    for (const Error& error : parsed.error()) print_error(error);
    return kExitFailure;
  }
  if (const Options* const options = std::get_if<Options>(&*parsed)) return run(*options);
  const Result<void> written = write_output(std::get<Answer>(*parsed).text, {});
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

}  // namespace

int main(int count, char** values) {
  reserve_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is a write error like any other
  use_small_thread_stacks();
  end_when_memory_runs_out();
  try {
    return run(count, values);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::exception& error) {
    print_error({std::string("internal error: ") + error.what(), {}, {}, "please report it"});
  }
  return kExitFailure;
}
