#pragma once

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// A workflow command as the runner of GitHub Actions reads it from a line of standard output.
struct WorkflowCommand {
  std::string name;
  std::map<std::string, std::string> properties;
  std::string message;
};

inline std::string with_replaced(std::string text, std::string_view part, std::string_view by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size())) {
    text.replace(at, part.size(), by);
  }
  return text;
}

/// Undoes the escapes of a message; of a property too.
inline std::string unescaped(std::string text) {
  text = with_replaced(with_replaced(std::move(text), "%0D", "\r"), "%0A", "\n");
  text = with_replaced(with_replaced(std::move(text), "%3A", ":"), "%2C", ",");
  return with_replaced(std::move(text), "%25", "%");
}

/// The command of one line, whatever blanks stand before it; nothing if it is none.
inline std::optional<WorkflowCommand> command_in(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with("::")) return std::nullopt;
  const std::size_t end = line.find("::", 2);
  if (end == std::string_view::npos) return std::nullopt;
  WorkflowCommand command;
  std::istringstream head(std::string(line.substr(2, end - 2)));
  head >> command.name;
  std::string property;
  head.ignore();
  while (std::getline(head, property, ',')) {
    const std::size_t equals = property.find('=');
    if (equals != std::string::npos) {
      command.properties[property.substr(0, equals)] = unescaped(property.substr(equals + 1));
    }
  }
  command.message = unescaped(std::string(line.substr(end + 2)));
  return command;
}

/// All commands of what a step printed. The runner ends lines at CR too.
inline std::vector<WorkflowCommand> commands_in(const std::string& output) {
  std::vector<WorkflowCommand> commands;
  std::istringstream lines(with_replaced(output, "\r", "\n"));
  for (std::string line; std::getline(lines, line);) {
    if (std::optional<WorkflowCommand> command = command_in(line)) commands.push_back(*std::move(command));
  }
  return commands;
}
