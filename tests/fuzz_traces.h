#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_message.h"
#include "fuzz_words.h"
#include "fuzzing.h"

/// A grammar of traces: the bytes of a fuzzer chosen into events that look like those of tf.data, of devices and of
/// nobody, and written as an XSpace or as a Chrome trace. A mutated byte is another trace, never a broken file; broken
/// files are for the targets of the readers.
namespace doctor {

/// Which names and numbers may appear.
enum class FuzzedWorld {
  hostile,  ///< all there are
  sound,    ///< those that TensorFlow may write: text that is UTF-8 without control characters, times that are near
};

class FuzzedTrace {
 public:
  FuzzedTrace(FuzzBytes& bytes, FuzzedWorld world) : bytes_(bytes), is_hostile_(world == FuzzedWorld::hostile) {
    constexpr int kMostParts = 6;
    for (int part = 0; part < kMostParts && (part == 0 || !bytes_.is_at_end()); ++part) add_part();
  }

  std::string to_xspace() const;
  std::string to_chrome_json() const;
  std::string to_tf1_timeline() const;

 private:
  enum class StatType { signed_number, unsigned_number, real, text, reference };

  struct Stat {
    std::string name;
    StatType type = StatType::signed_number;
    std::uint64_t number = 0;
    double real = 0;
    std::string text;
  };
  struct Event {
    std::string name;
    std::int64_t start = 0;  ///< picoseconds
    std::int64_t duration = 0;
    std::vector<Stat> stats;
  };
  struct Line {
    std::uint64_t id = 0;
    std::string name;
    std::int64_t timestamp_ns = 0;
    std::vector<Event> events;
  };
  struct Plane {
    std::string name;
    std::deque<Line> lines;
  };

  void add_part() {
    switch (bytes_.below(is_hostile_ ? 4 : 3)) {
      case 0:
        return add_pipeline();
      case 1:
        return add_events(line_of("/host:CPU", pick_thread()), bytes_.below(12) + 1);
      case 2:
        return add_device();
      default:
        return add_events(line_of(pick_plane(), pick_thread()), bytes_.below(12) + 1);
    }
  }

  void add_pipeline();
  void add_call(Line& line, const std::vector<std::string>& names, std::size_t depth, std::int64_t start,
                std::int64_t duration);
  void add_device();
  void add_events(Line& line, std::size_t count, std::string (FuzzedTrace::*pick_name)() = &FuzzedTrace::pick_text);
  void add_stat(Event& event);
  std::string pick_text();
  std::string pick_kernel();
  std::string pick_plane();
  std::string pick_thread();
  std::int64_t pick_time();
  std::uint64_t pick_number();

  Line& line_of(const std::string& plane, const std::string& name) {
    std::size_t at = 0;
    while (at < planes_.size() && planes_[at].name != plane) ++at;
    if (at == planes_.size()) planes_.push_back({plane, {}});
    for (Line& line : planes_[at].lines) {
      if (line.name == name) return line;
    }
    Line& line = planes_[at].lines.emplace_back();
    line.id = is_hostile_ && bytes_.below(16) == 15 ? pick_number() : ++last_line_;
    line.name = name;
    line.timestamp_ns = 1'700'000'000'000'000'000;
    if (is_hostile_ && bytes_.below(16) == 15) line.timestamp_ns = static_cast<std::int64_t>(pick_number());
    return line;
  }

  static Stat number(std::string name, std::uint64_t value) {
    return {std::move(name), StatType::signed_number, value, 0, {}};
  }
  static Stat text(std::string name, std::string value) {
    return {std::move(name), StatType::reference, 0, 0, std::move(value)};
  }

  FuzzBytes& bytes_;
  bool is_hostile_;
  std::deque<Plane> planes_;
  std::uint64_t last_line_ = 0;
  std::uint64_t last_id_ = 0;
};

inline std::string FuzzedTrace::pick_text() {
  const unsigned choice = bytes_.byte();
  if (choice < 160 || !is_hostile_)
    return std::string(fuzzed_words::kSoundTexts[choice % std::size(fuzzed_words::kSoundTexts)]);
  if (choice < 240) return std::string(fuzzed_words::kHostileTexts[choice % std::size(fuzzed_words::kHostileTexts)]);
  return std::string(bytes_.text(bytes_.below(24)));
}

/// Iterators are of hosts: the reader takes a plane of a device with their names for a damaged one.
inline std::string FuzzedTrace::pick_kernel() {
  std::string name = pick_text();
  return !is_hostile_ && name.starts_with("Iterator::") ? "kernel " + name : name;
}

/// A process of a Chrome trace that says nothing is a host, a plane of an XSpace is not.
inline std::string FuzzedTrace::pick_plane() {
  return is_hostile_ ? pick_text() : std::string("/device:GPU:1");
}

/// The profiler's own lines, "Steps" and those that repeat events, are not of a host.
inline std::string FuzzedTrace::pick_thread() {
  constexpr std::array<std::string_view, 3> kThreads = {"python3", "worker", "tf_data_iterator_get_next"};
  return is_hostile_ ? pick_text() : std::string(bytes_.pick(kThreads));
}

inline std::uint64_t FuzzedTrace::pick_number() {
  const unsigned choice = bytes_.byte();
  return choice < 200 || !is_hostile_ ? choice % 32 : bytes_.pick(fuzzed_words::kNumbers);
}

/// Whole nanoseconds, as both formats write them.
inline std::int64_t FuzzedTrace::pick_time() {
  const unsigned choice = bytes_.byte();
  if (is_hostile_ && choice >= 250) return static_cast<std::int64_t>(bytes_.pick(fuzzed_words::kNumbers));
  return (std::int64_t{1} << (choice % 24)) * 1000 * (1 + choice / 24);
}

inline void FuzzedTrace::add_stat(Event& event) {
  Stat stat;
  const std::size_t index = bytes_.below(std::size(fuzzed_words::kStatistics));
  stat.name = fuzzed_words::kStatistics[index];
  // TensorFlow writes no statistic twice, and those of the profiler itself alone.
  const bool is_there =
      std::any_of(event.stats.begin(), event.stats.end(), [&](const Stat& other) { return other.name == stat.name; });
  if (!is_hostile_ && (is_there || index < fuzzed_words::kOfProfiler)) return;
  constexpr std::array<std::string_view, 3> kWords = {"true", "false", "autotune"};
  stat.type = is_hostile_     ? static_cast<StatType>(bytes_.below(5))
              : bytes_.flip() ? StatType::reference
                              : StatType::signed_number;
  if (stat.type == StatType::text || stat.type == StatType::reference) {
    stat.text = is_hostile_ ? pick_text() : std::string(bytes_.pick(kWords));
  } else {
    stat.number = pick_number();
    stat.real = std::bit_cast<double>(stat.number << 44U);
  }
  event.stats.push_back(std::move(stat));
}

/// Events after, in, over and at one another.
inline void FuzzedTrace::add_events(Line& line, std::size_t count, std::string (FuzzedTrace::*pick_name)()) {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const unsigned place = bytes_.below(8);
    // Sums beyond 64 bits are the writer's, not the reader's.
    const auto plus = [](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    };
    if (place < 3) start = plus(start, duration);
    if (place == 3) start = plus(start, pick_time());
    if (place == 4 && is_hostile_) start = plus(start, plus(~pick_time(), 1));
    if (place < 7) duration = pick_time();
    if (place == 7 && is_hostile_) duration = plus(~duration, 1);
    Event event{(this->*pick_name)(), start, duration, {}};
    for (unsigned stats = bytes_.below(4); stats > 0; --stats) add_stat(event);
    line.events.push_back(std::move(event));
  }
}

/// A chain of iterators that is asked for element after element, as a training loop does it.
inline void FuzzedTrace::add_pipeline() {
  std::vector<std::string> names = {bytes_.below(8) == 7 ? "ReduceIterator::Root" : "Iterator::Root"};
  for (std::size_t depth = bytes_.below(7); depth > 0; --depth) {
    names.push_back(names.back() + "::" + std::string(bytes_.pick(fuzzed_words::kKinds)));
  }
  last_id_ += 64;
  Line& loop = line_of("/host:CPU", "python3");
  std::int64_t now = pick_time();
  const unsigned steps = bytes_.below(14) + 1;
  const std::int64_t wait = pick_time();
  const std::int64_t work = pick_time();
  const bool has_steps = bytes_.flip();
  if (now < 0 || wait < 0 || work < 0) return;
  for (unsigned step = 0; step < steps; ++step) {
    constexpr std::int64_t kLatest = std::int64_t{1} << 60;
    if (now > kLatest || wait > kLatest || work > kLatest) return;
    const std::int64_t duration = wait + static_cast<std::int64_t>(bytes_.byte()) * 1000;
    if (has_steps) {
      Event marker{"train", now, duration + work, {number("step_num", step)}};
      loop.events.push_back(std::move(marker));
    }
    loop.events.push_back({"IteratorGetNextOp::DoCompute", now, duration, {}});
    add_call(loop, names, 0, now + 1000, duration - 2000);
    now += duration + work;
  }
}

inline void FuzzedTrace::add_call(Line& line, const std::vector<std::string>& names, std::size_t depth,
                                  std::int64_t start, std::int64_t duration) {
  if (depth == names.size() || duration < 4000) return;
  const unsigned choice = bytes_.byte();
  Event call{names[depth], start, duration, {}};
  const std::uint64_t cycle = is_hostile_ && choice >= 250 ? depth + 2 : 0;  // an iterator that is its own ancestor
  if (choice != 249) call.stats.push_back(number("id", last_id_ + depth + 1));
  if (depth > 0) call.stats.push_back(number("parent_id", last_id_ + (cycle > 0 ? cycle : depth)));
  if (choice % 4 == 1) call.stats.push_back(text("name", pick_text()));
  if (choice % 4 == 2) {
    add_stat(call);
    add_stat(call);
  }
  line.events.push_back(std::move(call));
  // Asynchronous ones work on a thread of their own, before and beyond the call that waits for them.
  const bool is_async = choice % 8 == 3;
  Line& worker = is_async ? line_of("/host:CPU", "worker") : line;
  add_call(worker, names, depth + 1, is_async ? start - 500 : start + 1000, duration - 2000);
  if (choice % 8 == 4) {
    worker.events.push_back({"InstantiatedCapturedFunction::Run", start + 500, 400, {number("id", depth)}});
    worker.events.push_back({pick_text(), start + 600, 200, {}});
  }
}

inline void FuzzedTrace::add_device() {
  const std::string device = bytes_.flip() ? "/device:GPU:0" : pick_plane();
  Line& stream = line_of(device, "Stream #13(Kernel)");
  std::int64_t now = pick_time();
  for (unsigned kernels = bytes_.below(10) + 1; kernels > 0; --kernels) {
    const std::int64_t duration = pick_time();
    if (now < 0 || duration < 0 || now > (std::int64_t{1} << 61) || duration > (std::int64_t{1} << 61)) return;
    Event kernel{pick_kernel(), now, duration, {number("correlation_id", kernels), text("tf_op", pick_text())}};
    if (bytes_.flip()) add_stat(kernel);
    stream.events.push_back(std::move(kernel));
    now += duration;
  }
  if (bytes_.flip()) add_events(line_of(device, "Steps"), bytes_.below(6) + 1, &FuzzedTrace::pick_kernel);
}

inline std::string FuzzedTrace::to_xspace() const {
  FuzzedMessage space;
  for (const Plane& plane : planes_) {
    std::map<std::string, std::uint64_t> event_ids;
    std::map<std::string, std::uint64_t> stat_ids;
    const auto id_of = [](std::map<std::string, std::uint64_t>& ids, const std::string& name) {
      return ids.try_emplace(name, ids.size() + 1).first->second;
    };
    FuzzedMessage written_plane;
    written_plane.bytes(2, plane.name);
    for (const Line& line : plane.lines) {
      FuzzedMessage written_line;
      written_line.number(1, line.id);
      written_line.bytes(2, line.name);
      written_line.number(3, static_cast<std::uint64_t>(line.timestamp_ns));
      for (const Event& event : line.events) {
        FuzzedMessage written;
        written.number(1, id_of(event_ids, event.name));
        written.number(2, static_cast<std::uint64_t>(event.start));
        written.number(3, static_cast<std::uint64_t>(event.duration));
        for (const Stat& stat : event.stats) {
          FuzzedMessage value;
          value.number(1, id_of(stat_ids, stat.name));
          if (stat.type == StatType::signed_number) value.number(4, stat.number);
          if (stat.type == StatType::unsigned_number) value.number(3, stat.number);
          if (stat.type == StatType::real) value.real(2, stat.real);
          if (stat.type == StatType::text) value.bytes(5, stat.text);
          if (stat.type == StatType::reference) value.number(7, id_of(stat_ids, stat.text));
          written.bytes(4, value.text());
        }
        written_line.bytes(4, written.text());
      }
      written_plane.bytes(3, written_line.text());
    }
    for (const auto* ids : {&event_ids, &stat_ids}) {
      for (const auto& [name, id] : *ids) {
        FuzzedMessage metadata;
        metadata.number(1, id);
        metadata.bytes(2, name);
        FuzzedMessage entry;
        entry.number(1, id);
        entry.bytes(2, metadata.text());
        written_plane.bytes(ids == &event_ids ? 4 : 5, entry.text());
      }
    }
    space.bytes(1, written_plane.text());
  }
  space.bytes(4, "host-1");
  return space.text();
}

inline std::string json_string(std::string_view value) {
  std::string text;
  append_json_string(text, value);
  return text;
}

/// As XProf writes it: long names are arguments, and every value is a text.
inline std::string FuzzedTrace::to_chrome_json() const {
  std::string rows;
  const auto value_of = [](const Stat& stat) {
    if (stat.type == StatType::signed_number) return std::to_string(static_cast<std::int64_t>(stat.number));
    if (stat.type == StatType::unsigned_number) return std::to_string(stat.number);
    return stat.type == StatType::real ? fmt::format("{}", stat.real) : stat.text;
  };
  std::size_t process = 0;
  for (const Plane& plane : planes_) {
    ++process;
    rows += fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)", process,
                        json_string(plane.name));
    std::size_t thread = 0;
    for (const Line& line : plane.lines) {
      ++thread;
      rows += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}},)", process,
                          thread, json_string(line.name));
      for (const Event& event : line.events) {
        const std::size_t last = event.name.rfind("::");
        const bool is_iterator = event.name.starts_with("Iterator::") && last > 8;
        std::string arguments = is_iterator ? "\"long_name\":" + json_string(event.name) : "";
        for (const Stat& stat : event.stats) {
          arguments += (arguments.empty() ? "" : ",") + json_string(stat.name) + ":" + json_string(value_of(stat));
        }
        rows +=
            fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"name":{},"args":{{{}}}}},)", process,
                        thread, static_cast<double>(event.start) * 1e-6, static_cast<double>(event.duration) * 1e-6,
                        json_string(is_iterator ? "Iterator::" + event.name.substr(last + 2) : event.name), arguments);
      }
    }
  }
  return R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)" + rows + "{}]}";
}

/// As timeline.py writes it: a process for each device, and what ran is an argument. It has no threads with names and
/// no statistics.
inline std::string FuzzedTrace::to_tf1_timeline() const {
  std::string rows;
  std::size_t process = 0;
  for (const Plane& plane : planes_) {
    ++process;
    const std::string device = plane.name.starts_with('/') ? plane.name : "/cpu:0";
    rows += fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)", process,
                        json_string(device + " Compute"));
    std::size_t thread = 0;
    for (const Line& line : plane.lines) {
      for (const Event& event : line.events) {
        rows += fmt::format(
            R"({{"ph":"X","cat":"Op","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{"name":{},"op":{}}}}},)",
            process, thread, event.start / 1'000'000, event.duration / 1'000'000,
            json_string(event.name.substr(event.name.rfind(':') + 1)), json_string(event.name),
            json_string(event.name));
      }
      ++thread;
    }
  }
  if (!rows.empty()) rows.pop_back();
  return R"({"traceEvents":[)" + rows + "]}";
}

/// A trace in one of the formats, or, where the first byte says so, the bytes themselves.
inline std::string fuzzed_trace(FuzzBytes& bytes) {
  const unsigned format = bytes.below(8);
  if (format == 7) return std::string(bytes.rest());
  const FuzzedTrace trace(bytes, FuzzedWorld::hostile);
  if (format == 6) return trace.to_tf1_timeline();
  return format < 4 ? trace.to_xspace() : trace.to_chrome_json();
}

}  // namespace doctor
