// Lines of the user's program: in the names of datasets, and in the file beside a trace.

#include "trace/source_lines.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "measure/measure.h"
#include "temporary_directory.h"

namespace doctor::source_lines_test {
namespace {

std::string place_in(std::string_view name) {
  const std::optional<NamedLine> named = line_of_name(name);
  return named ? fmt::format("{} {}", to_text(named->place), named->method) : "";
}

std::string page_with(const std::string& names, const std::string& more = "") {
  return R"({"schema":"tfdata-doctor.lines/1",)" + more + R"("names":{)" + names + "}}";
}

constexpr std::string_view kMap =
    R"("at_input_py_L33_map":{"file":"/home/me/src/input.py","line":33,"code":"ds.map","num_parallel_calls":false})";

TEST_CASE("a name says file, line and method") {
  struct Case {
    std::string_view name;
    std::string_view place;
  };
  for (const Case& one : std::vector<Case>{
           {"at_input_py_L33_map", "input.py:33 map"},
           {"at_input_py_L33_map_2", "input.py:33 map"},
           {"at_my_input_v2_py_L7_from_tensor_slices", "my_input_v2.py:7 from_tensor_slices"},
           {"at_a_L3_py_L4_map", "a_L3.py:4 map"},
           {"at_input_py_L33", "input.py:33 "},
           {"at_In_5_L3_batch", "In[5]:3 batch"},
           {"at_input_py_L10000000_map", "input.py:10000000 map"},
           {"at_input_py_L10000001_map", ""},
           {"at_input_py_L0_map", ""},
           {"at_input_py_L99999999999999999999_map", ""},
           {"at_input_py_Lx_map", ""},
           {"at_input_py_L33map", ""},
           {"at_home_L3_map", ""},
           {"at__py_L3", ""},
           {"at_py_L3", ""},
           {"at_L3_map", ""},
           {"at_", ""},
           {"input_py_L33_map", ""},
           {"parse", ""},
           {"MapDataset:3", ""},
           {"", ""},
       }) {
    CAPTURE(std::string(one.name));
    CHECK(place_in(one.name) == one.place);
  }
}

TEST_CASE("the file beside a trace has paths and code") {
  const Result<SourceLines> lines = parse_source_lines(page_with(std::string(kMap), R"("root":"/home/me",)"));
  REQUIRE(lines);
  CHECK(lines->unusable == 0);
  REQUIRE(lines->names.size() == 1);
  CHECK(lines->names.at("at_input_py_L33_map") ==
        SourceLine{"/home/me/src/input.py", 33, "ds.map", "src/input.py", false});

  const auto path_with_root = [](const std::string& root) {
    return parse_source_lines(page_with(std::string(kMap), R"("root":")" + root + R"(",)"))
        ->names.begin()
        ->second.repository_file;
  };
  CHECK(path_with_root("/home/me/") == "src/input.py");
  CHECK(path_with_root("/home/m").empty());
  CHECK(path_with_root("/home/me/src/input.py").empty());
  CHECK(path_with_root("").empty());
  const Result<SourceLines> windows =
      parse_source_lines(page_with(R"("a":{"file":"C:\\job\\src\\input.py","line":3})", R"("root":"C:\\job",)"));
  REQUIRE(windows);
  CHECK(windows->names.at("a").repository_file == "src/input.py");
  CHECK(to_text(windows->names.at("a")) == "input.py:3");
}

TEST_CASE("entries that say no line are counted") {
  const Result<SourceLines> lines = parse_source_lines(page_with(
      std::string(kMap) +
      R"(,"a":{},"b":3,"c":{"file":"x.py"},"d":{"file":"","line":3},"e":{"file":"x.py","line":0},)" +
      R"("f":{"file":"x.py","line":-1},"g":{"file":"x.py","line":10000001},"h":{"file":7,"line":1},"i":null,"j":[],)" +
      R"("k":{"file":")" + std::string(4097, 'x') + R"(","line":1})"));
  REQUIRE(lines);
  CHECK(lines->names.size() == 1);
  CHECK(lines->unusable == 11);
}

TEST_CASE("long code is cut between characters, and a file of many names is cut") {
  const std::string code = std::string(999, 'x') + "\xC3\xA9\xC3\xA9";
  const Result<SourceLines> lines =
      parse_source_lines(page_with(R"("a":{"file":"x.py","line":1,"code":")" + code + R"("})"));
  REQUIRE(lines);
  CHECK(lines->names.at("a").code == std::string(999, 'x'));

  std::string names;
  for (std::size_t index = 0; index < kMostSourceLines + 5; ++index) {
    names += fmt::format(R"({}"n{}":{{"file":"x.py","line":1}})", index == 0 ? "" : ",", index);
  }
  const Result<SourceLines> many = parse_source_lines(page_with(names));
  REQUIRE(many);
  CHECK(many->names.size() == kMostSourceLines);
  CHECK(many->unusable == 5);
}

TEST_CASE("what is no such file is refused, with the reason") {
  std::string deep = R"({"schema":"tfdata-doctor.lines/1","names":)";
  for (int level = 0; level < 100'000; ++level) deep += R"({"a":)";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("3"), std::string("{}"), deep,
        std::string(R"({"schema":"tfdata-doctor.lines/2","names":{}})"),
        std::string(R"({"schema":"tfdata-doctor.lines/1"})"),
        std::string(R"({"schema":"tfdata-doctor.lines/1","names":[]})"), page_with("\"\xff\":{}"),
        page_with(std::string(kMap)) + "x"}) {
    CAPTURE(text.substr(0, 80));
    const Result<SourceLines> lines = parse_source_lines(text);
    CHECK_FALSE(lines);
    if (!lines) CHECK(!lines.error().what.empty());
  }
}

TEST_CASE("the file is found beside the trace, and its faults end nothing") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("run/host.xplane.pb", "");
  CHECK(source_lines_beside(trace).path.empty());
  CHECK(source_lines_beside("-").path.empty());
  const std::string path = folder.write("run/dataset-lines.json", page_with(std::string(kMap)));
  const SourceLines lines = source_lines_beside(trace);
  CHECK(lines.path == path);
  CHECK(lines.fault.empty());
  CHECK(lines.names.size() == 1);

  folder.write("run/dataset-lines.json", "{");
  CHECK(source_lines_beside(trace).fault.starts_with("is not JSON"));
  std::filesystem::resize_file(path, kLargestSourceLines + 1);
  CHECK(source_lines_beside(trace).fault == "is larger than 16 MB");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(source_lines_beside(trace).path.empty());
}

TEST_CASE("iterators get their lines, the root and what TF put in do not") {
  const auto iterator = [](const std::string& short_name, const std::string& dataset_name) {
    IteratorMeasurement made;
    made.short_name = short_name;
    made.dataset_name = dataset_name;
    return made;
  };
  HostMeasurement host;
  host.iterators = {iterator("Root", "at_input_py_L33_map"),
                    iterator("Prefetch", "inject/prefetch_at_input_py_L33_map/_3"),
                    iterator("ParallelMapV2", "at_input_py_L33_map"),
                    iterator("MapAndBatch", "fused(at_input_py_L33_map,at_input_py_L34_batch)"),
                    iterator("Map", "parse"),
                    iterator("Map", "MapDataset:3")};
  Result<SourceLines> lines =
      parse_source_lines(page_with(std::string(kMap) + R"(,"parse":{"file":"/x/y.py","line":5},"k":0)"));
  REQUIRE(lines);
  lines->path = "run/dataset-lines.json";
  find_user_calls(*lines, host);
  const auto texts = [&](std::size_t index) {
    std::string text;
    for (const SourceLine& line : host.iterators[index].source_lines) text += to_text(line) + " " + line.code + ";";
    return text;
  };
  CHECK(texts(0).empty());
  CHECK(texts(1).empty());
  CHECK(texts(2) == "input.py:33 ds.map;");
  CHECK(texts(3) == "input.py:33 ds.map;input.py:34 ;");  // the second by its name alone
  CHECK(texts(4) == "y.py:5 ;");
  CHECK(texts(5).empty());
  CHECK(host.source_lines_fault == "run/dataset-lines.json: 1 name could not be used");
}

}  // namespace
}  // namespace doctor::source_lines_test
