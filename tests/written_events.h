#pragma once

#include <deque>
#include <string>
#include <vector>

#include "trace/event_reader.h"

namespace doctor {

/// Events for sinks, written by hand: lines of a host and of devices, and what runs on them.
class WrittenEvents {
 public:
  /// A thread of the host, or a stream of a device where `plane` is "/device:…".
  const EventLine& line(const std::string& plane, const std::string& name) {
    EventPlane& owner = planes_.emplace_back();
    owner.name = plane;
    owner.kind = kind_of_plane(plane);
    owner.index = planes_.size() - 1;
    EventLine& line = lines_.emplace_back();
    line.plane = &owner;
    line.name = name;
    line.kind = kind_of_line(owner, name);
    line.index = lines_.size() - 1;
    return line;
  }

  struct Text {
    std::string name;
    std::string value;
  };

  /// An event from `start` to `end`, in picoseconds.
  void add(const EventLine& line, const std::string& name, Picoseconds start, Picoseconds end,
           const std::vector<Text>& arguments = {}) {
    Event& event = events_.emplace_back();
    event.name = name;
    event.texts = arguments;
    event.event.line = &line;
    event.event.start = start;
    event.event.duration = end - start;
  }

  /// Hands them over in the order in which they were added.
  void feed(EventSink& sink) const {
    for (const Event& written : events_) {
      std::vector<EventArgument> arguments;
      for (const Text& text : written.texts) {
        EventArgument& argument = arguments.emplace_back();
        argument.name = text.name;
        argument.text = text.value;
      }
      TraceEvent event = written.event;
      event.name = written.name;
      event.arguments = arguments;
      sink.take(event);
    }
  }

 private:
  struct Event {
    std::string name;
    std::vector<Text> texts;
    TraceEvent event;
  };

  std::deque<EventPlane> planes_;
  std::deque<EventLine> lines_;
  std::vector<Event> events_;
};

}  // namespace doctor
