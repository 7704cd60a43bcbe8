#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/trace/xspace/xspace.pb.h"
#include "synthetic_trace.h"

/// Device planes without streams, as libtpu and XProf write them: lines of ops, programs and steps, with the statistics
/// of HLO on the metadata of the events. Times are microseconds since the origin of the host's trace.
class TpuTrace {
 public:
  explicit TpuTrace(doctor::xspace::XSpace host) : space_(std::move(host)) {
    for (const doctor::xspace::XPlane& plane : space_.planes()) {
      for (const doctor::xspace::XLine& line : plane.lines()) {
        if (line.events_size() > 0 && origin_ns_ == 0) origin_ns_ = line.timestamp_ns();
      }
    }
  }

  struct Op {
    std::string name = "fusion.1";
    std::string category = "loop fusion";
    std::string tf_op = "jit(step)/jit(main)/add:";
    std::string source = "train.py:37";
    std::int64_t flops = 1000;
    std::int64_t bytes = 4096;
    std::string shape = "f32[8,128]{1,0:T(8,128)}";
  };

  /// What follows is of this device.
  TpuTrace& on(const std::string& device) {
    device_ = device;
    return *this;
  }

  /// An event of any line.
  TpuTrace& add(const std::string& line, const std::string& name, double start_us, double duration_us) {
    lines_[device_][line].push_back({name, start_us, duration_us});
    ops_[name].name.clear();
    return *this;
  }

  TpuTrace& op(double start_us, double duration_us, const Op& op, const std::string& line = "XLA Ops") {
    const std::string text = "%" + op.name + " = " + op.shape + " " + op.category + "()";
    add(line, text, start_us, duration_us);
    ops_[text] = op;
    return *this;
  }

  doctor::xspace::XSpace to_message() const {
    doctor::xspace::XSpace space = space_;
    for (const auto& [device, lines] : lines_) {
      doctor::xspace::XPlane& plane = *space.add_planes();
      plane.set_name(device);
      std::map<std::string, std::int64_t> events;
      std::map<std::string, std::int64_t> stats;
      std::int64_t line_id = 0;
      for (const auto& [name, written] : lines) write_line(name, written, ++line_id, events, *plane.add_lines());
      for (const auto& [name, id] : events) write_metadata(name, id, stats, plane);
      for (const auto& [name, id] : stats) {
        (*plane.mutable_stat_metadata())[id].set_id(id);
        (*plane.mutable_stat_metadata())[id].set_name(name);
      }
    }
    return space;
  }
  std::string to_xspace() const { return to_message().SerializeAsString(); }

 private:
  struct Written {
    std::string name;
    double start_us = 0;
    double duration_us = 0;
  };

  static std::int64_t id_of(std::map<std::string, std::int64_t>& ids, const std::string& name) {
    return ids.try_emplace(name, static_cast<std::int64_t>(ids.size()) + 1).first->second;
  }

  void write_line(const std::string& name, const std::vector<Written>& written, std::int64_t id,
                  std::map<std::string, std::int64_t>& events, doctor::xspace::XLine& line) const {
    line.set_id(id);
    line.set_name(name);
    line.set_timestamp_ns(origin_ns_);
    for (const Written& event : written) {
      doctor::xspace::XEvent& added = *line.add_events();
      added.set_metadata_id(id_of(events, event.name));
      added.set_offset_ps(std::llround(event.start_us * 1e6));
      added.set_duration_ps(std::llround(event.duration_us * 1e6));
    }
  }

  void write_metadata(const std::string& name, std::int64_t id, std::map<std::string, std::int64_t>& stats,
                      doctor::xspace::XPlane& plane) const {
    doctor::xspace::XEventMetadata& metadata = (*plane.mutable_event_metadata())[id];
    metadata.set_id(id);
    metadata.set_name(name);
    const Op& op = ops_.at(name);
    if (op.name.empty()) return;
    metadata.set_display_name(op.name);
    const auto text = [&](const std::string& stat, const std::string& value) {
      if (value.empty()) return;
      doctor::xspace::XStat& written = *metadata.add_stats();
      written.set_metadata_id(id_of(stats, stat));
      written.set_str_value(value);
    };
    text("hlo_category", op.category);
    text("tf_op", op.tf_op);
    text("source", op.source);
    text("shape_with_layout", op.shape);
    for (const auto& [stat, value] : {std::pair("flops", op.flops), std::pair("bytes_accessed", op.bytes)}) {
      doctor::xspace::XStat& written = *metadata.add_stats();
      written.set_metadata_id(id_of(stats, stat));
      written.set_int64_value(value);
    }
  }

  doctor::xspace::XSpace space_;
  std::string device_ = "/device:TPU:0";
  std::int64_t origin_ns_ = 0;
  std::map<std::string, std::map<std::string, std::vector<Written>>> lines_;  ///< by device, by line
  std::map<std::string, Op> ops_;                                             ///< by the name of their events
};
