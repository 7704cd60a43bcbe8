#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "lib/trace/xspace/xspace.pb.h"
#include "trace/format.h"

/// Traces for tests, written as XSpace with the protobuf classes or as Chrome JSON: the readers meet bytes that they
/// did not write themselves.
class SyntheticTrace {
 public:
  struct Event {
    std::string thread;
    std::string name;  ///< long name of an iterator
    double start_us = 0;
    double duration_us = 0;
    std::map<std::string, std::uint64_t> ids;     ///< id, parent_id, element_id, step_num
    std::map<std::string, std::string> texts;     ///< name, deterministic, ...
    std::map<std::string, std::int64_t> numbers;  ///< parallelism, buffer_size, ...
    std::map<std::string, double> reals = {};     ///< fragmentation
  };

  std::vector<Event> events;

  Event& add(const std::string& thread, const std::string& name, double start_us, double duration_us) {
    events.push_back({thread, name, start_us, duration_us, {}, {}, {}, {}});
    return events.back();
  }

  /// A GetNext call of an iterator.
  Event& iterator(const std::string& thread, const std::string& long_name, std::uint64_t id, std::uint64_t parent_id,
                  double start_us, double duration_us) {
    Event& event = add(thread, long_name, start_us, duration_us);
    event.ids["id"] = id;
    if (parent_id != 0) event.ids["parent_id"] = parent_id;
    return event;
  }

  doctor::xspace::XSpace to_message() const;
  std::string to_xspace() const { return to_message().SerializeAsString(); }
  std::string to_chrome_json() const;

  /// Reads bytes in whatever format they are; the test fails where nothing can be read.
  static doctor::Result<doctor::Trace> read(const std::string& bytes) {
    const auto source = doctor::memory_source(bytes, "test");
    return doctor::read_trace(*source);
  }
  doctor::Trace to_trace() const {
    doctor::Result<doctor::Trace> trace = read(to_xspace());
    if (!trace) throw std::runtime_error(doctor::to_string(trace.error()));
    return std::move(*trace);
  }
};

inline doctor::xspace::XSpace SyntheticTrace::to_message() const {
  doctor::xspace::XSpace space;
  space.add_hostnames("host-1");
  doctor::xspace::XPlane& plane = *space.add_planes();
  plane.set_name("/host:CPU");
  std::map<std::string, std::int64_t> event_ids;
  std::map<std::string, std::int64_t> stat_ids;
  const auto id_of = [](std::map<std::string, std::int64_t>& ids, const std::string& name) {
    return ids.try_emplace(name, static_cast<std::int64_t>(ids.size()) + 1).first->second;
  };
  std::map<std::string, doctor::xspace::XLine*> lines;
  for (const Event& event : events) {
    doctor::xspace::XLine*& line = lines[event.thread];
    if (line == nullptr) {
      line = plane.add_lines();
      line->set_id(static_cast<std::int64_t>(lines.size()));
      line->set_name(event.thread);
      line->set_timestamp_ns(1'700'000'000'000'000'000);
    }
    doctor::xspace::XEvent& written = *line->add_events();
    written.set_metadata_id(id_of(event_ids, event.name));
    written.set_offset_ps(std::llround(event.start_us * 1e6));
    written.set_duration_ps(std::llround(event.duration_us * 1e6));
    for (const auto& [name, id] : event.ids) {
      doctor::xspace::XStat& stat = *written.add_stats();
      stat.set_metadata_id(id_of(stat_ids, name));
      // As TensorFlow writes them: what does not fit an int64 is unsigned.
      if (id > INT64_MAX) {
        stat.set_uint64_value(id);
      } else {
        stat.set_int64_value(static_cast<std::int64_t>(id));
      }
    }
    for (const auto& [name, number] : event.numbers) {
      doctor::xspace::XStat& stat = *written.add_stats();
      stat.set_metadata_id(id_of(stat_ids, name));
      stat.set_int64_value(number);
    }
    for (const auto& [name, real] : event.reals) {
      doctor::xspace::XStat& stat = *written.add_stats();
      stat.set_metadata_id(id_of(stat_ids, name));
      stat.set_double_value(real);
    }
    for (const auto& [name, text] : event.texts) {
      doctor::xspace::XStat& stat = *written.add_stats();
      stat.set_metadata_id(id_of(stat_ids, name));
      stat.set_ref_value(static_cast<std::uint64_t>(id_of(stat_ids, text)));
    }
  }
  for (const auto& [name, id] : event_ids) {
    (*plane.mutable_event_metadata())[id].set_id(id);
    (*plane.mutable_event_metadata())[id].set_name(name);
  }
  for (const auto& [name, id] : stat_ids) {
    (*plane.mutable_stat_metadata())[id].set_id(id);
    (*plane.mutable_stat_metadata())[id].set_name(name);
  }
  return space;
}

inline std::string SyntheticTrace::to_chrome_json() const {
  std::map<std::string, int> threads;
  std::string rows;
  for (const Event& event : events) {
    const int thread = threads.try_emplace(event.thread, static_cast<int>(threads.size()) + 1).first->second;
    const bool is_iterator = event.name.starts_with("Iterator::");
    const std::size_t last = event.name.rfind("::");
    std::string short_name = is_iterator ? "Iterator::" + event.name.substr(last + 2) : event.name;
    std::string args = is_iterator ? fmt::format(R"("long_name":"{}")", event.name) : "";
    const auto add = [&](const std::string& name, const std::string& value) {
      args += fmt::format(R"({}"{}":"{}")", args.empty() ? "" : ",", name, value);
    };
    if (!is_iterator && event.name.find(':') != std::string::npos && event.name.find("::") == std::string::npos) {
      short_name = event.name.substr(event.name.find(':') + 1);
      add("long_name", event.name);
    }
    for (const auto& [name, id] : event.ids) add(name, std::to_string(id));
    for (const auto& [name, number] : event.numbers) add(name, std::to_string(number));
    for (const auto& [name, real] : event.reals) add(name, fmt::format("{}", real));
    for (const auto& [name, text] : event.texts) add(name, text);
    rows += fmt::format(R"({{"ph":"X","pid":1,"tid":{},"ts":{:.6f},"dur":{:.6f},"name":"{}","args":{{{}}}}},)", thread,
                        event.start_us, event.duration_us, short_name, args);
  }
  std::string names = R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},)";
  for (const auto& [name, thread] : threads) {
    names += fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}"}}}},)", thread, name);
  }
  return R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)" + names + rows + "{}]}";
}
