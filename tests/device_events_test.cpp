// What events of devices mean, worked out once for all that have the same texts.

#include "profile/device_events.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "profile/device_profile.h"
#include "profile/profile_parts.h"

namespace doctor::device_events_test {
namespace {

/// A stream of a GPU, and events on it as a reader hands them over.
class Stream {
 public:
  Stream() {
    plane_.name = "/device:GPU:0";
    plane_.kind = PlaneKind::device;
    line_.plane = &plane_;
    line_.name = "Stream #14(Compute)";
  }

  struct Kernel {
    std::string name = "volta_sgemm";
    std::string launch = "regs:8 grid:1,1,1 block:64,1,1";
    std::uint32_t launch_number = 0;
    std::string op = "a/MatMul:MatMul";
    std::int64_t correlation = 0;
    bool has_groups = true;
  };

  /// Valid until the next one.
  const TraceEvent& event(const Kernel& kernel) {
    kernel_ = kernel;
    arguments_ = {{"kernel_details", ArgumentType::text, kernel_.launch},
                  {"tf_op", ArgumentType::text, kernel_.op},
                  {"correlation_id", ArgumentType::integer, {}, kernel_.correlation}};
    arguments_[0].text_number = kernel_.launch_number;
    for (EventArgument& argument : arguments_) {
      if (kernel_.has_groups) argument.groups = DeviceEvents::groups_of(argument.name);
    }
    event_.line = &line_;
    event_.name = kernel_.name;
    event_.duration = 5'000'000;
    event_.arguments = arguments_;
    return event_;
  }

  EventPlane plane_;
  EventLine line_;

 private:
  Kernel kernel_;
  std::vector<EventArgument> arguments_;
  TraceEvent event_;
};

TEST_CASE("events with the same texts have one meaning, whatever tells them apart beside it") {
  Stream stream;
  DeviceEvents events;
  const auto number_of = [&](const Stream::Kernel& kernel) {
    const std::optional<DeviceEvent> understood = events.understand(stream.event(kernel));
    REQUIRE(understood);
    CHECK(understood->device == "/device:GPU:0");
    CHECK(understood->meaning->name == kernel.name);
    CHECK(understood->meaning->op_name == "a/MatMul");
    return understood->meaning->number;
  };
  const std::uint32_t first = number_of({});
  CHECK(first != 0);
  CHECK(number_of({.correlation = 7}) == first);
  CHECK(number_of({.name = "ampere_sgemm"}) != first);
  CHECK(number_of({.launch = "regs:9"}) != first);
  CHECK(number_of({.op = "a/MatMul:Add"}) != first);
  CHECK(number_of({}) == first);
  // A number stands for a text of its own.
  const std::uint32_t numbered = number_of({.launch_number = 3});
  CHECK(numbered != first);
  CHECK(number_of({.launch_number = 4}) != numbered);
  CHECK(number_of({.launch_number = 3}) == numbered);
  // Nothing is known of which arguments matter.
  CHECK(number_of({.has_groups = false}) == 0);
  events.end_file();
  CHECK(number_of({}) > numbered);
}

TEST_CASE("what a line repeats is no device's own") {
  Stream stream;
  stream.line_.kind = LineKind::derived;
  stream.line_.name = "TensorFlow Ops";
  CHECK_FALSE(DeviceEvents().understand(stream.event({})));
  stream.line_.name = "XLA Modules";
  DeviceEvents events;
  const std::optional<DeviceEvent> run = events.understand(stream.event({}));
  REQUIRE(run);
  CHECK(run->meaning == nullptr);
}

TEST_CASE("runs of one kernel are one row, however its meaning was found") {
  Stream stream;
  DeviceProfiler profiler(0);
  profiler.begin({});
  for (const bool has_groups : {true, false}) {
    for (int run = 0; run < 3; ++run) profiler.take(stream.event({.correlation = run, .has_groups = has_groups}));
    profiler.take(stream.event({.op = "b/MatMul:MatMul", .has_groups = has_groups}));
  }
  const DeviceProfile profile = profiler.finish();
  REQUIRE(profile.kernels.size() == 2);
  CHECK(profile.kernels[0].op_name == "a/MatMul");
  CHECK(profile.kernels[0].occurrences == 6);
  CHECK(profile.kernels[0].total == 30'000'000);
  CHECK(profile.kernels[0].min == 5'000'000);
  CHECK(profile.kernels[1].occurrences == 2);
}

}  // namespace
}  // namespace doctor::device_events_test
