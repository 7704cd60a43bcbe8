#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

// The lines of the user's program that make datasets. Python's tfdata_doctor.name_datasets() gives each dataset a name
// that says its line, which the events of its iterators carry, and writes the rest into a file beside the trace:
// docs/recording.md.

/// A line of the user's program. Foreign text.
struct SourceLine {
  std::string file;             ///< a path, or only its last part: "/home/me/src/input.py", "input.py", "In[5]"
  std::uint64_t line = 0;       ///< from 1
  std::string code;             ///< the line itself; empty if it is not known
  std::string repository_file;  ///< the path from the root of the program's repository; empty if it is not known
  std::optional<bool> has_parallel_calls;  ///< whether it gives num_parallel_calls; nullopt if that is not known

  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// What a name says by itself.
struct NamedLine {
  SourceLine place;         ///< without what only the file beside the trace says
  std::string_view method;  ///< function or method that made the dataset: "map"; empty if the name does not say
};

/// "at_input_py_L33_map" -> line 33 of input.py, "map". Where one line makes several datasets in several ways, a number
/// follows: "at_input_py_L33_map_2". nullopt for every other name.
std::optional<NamedLine> line_of_name(std::string_view name);

/// "input.py:33".
std::string to_text(const SourceLine& place);

/// The name of the file without its folders.
std::string_view file_name_of(const SourceLine& place);

/// The content of the file beside a trace.
struct SourceLines {
  std::string path;                                      ///< path of the file; empty if there is none
  std::map<std::string, SourceLine, std::less<>> names;  ///< by name of the dataset
  std::uint64_t unusable = 0;                            ///< entries without a file or a line
  std::string fault;                                     ///< why nothing of it could be used; empty if it could
};

/// The largest number of names kept of one file; a program has some hundreds.
inline constexpr std::size_t kMostSourceLines = 20'000;

/// The largest file that is read, in bytes.
inline constexpr std::size_t kLargestSourceLines = 16U << 20U;

/// Reads `tfdata-doctor.lines/1`. Entries beyond kMostSourceLines are left out and counted. Errors: not JSON,
/// not of this schema.
Result<SourceLines> parse_source_lines(std::string_view json);

/// The path of a trace's lines: "dataset-lines.json" in the folder of the trace.
std::string source_lines_path(const std::string& trace);

/// Reads the lines of a trace. Never fails: `fault` says what is wrong with the file.
SourceLines source_lines_beside(const std::string& trace);

}  // namespace doctor
