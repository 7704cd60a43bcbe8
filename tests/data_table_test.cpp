// The pages that are tables: sorting, cutting, and the three renderings.

#include <doctest/doctest.h>

#include "base/time.h"
#include "text/table.h"

namespace doctor::data_table_test {
namespace {

DataTable example() {
  DataTable table;
  table.columns = {{"name", "name", ColumnKind::text},         {"calls", "calls", ColumnKind::count},
                   {"self_us", "self", ColumnKind::time},      {"self_share", "share", ColumnKind::share},
                   {"eligible", "eligible", ColumnKind::flag}, {"output_us", "output", ColumnKind::time, true}};
  table.rows = {{"b", std::int64_t{12345}, Picoseconds{1'500'001}, 0.25, true, Picoseconds{0}},
                {"=SUM(A1)\n", std::int64_t{2}, Picoseconds{0}, 0.75, false, Picoseconds{0}},
                {"a", std::int64_t{2}, Cell(), Cell(), true, Picoseconds{0}}};
  return table;
}

std::string names(const DataTable& table) {
  std::string text;
  for (const std::vector<Cell>& row : table.rows) text += std::get<std::string>(row[0]).substr(0, 1);
  return text;
}

TEST_CASE("numbers sort with the largest first, texts from A, what is unknown last, equals as they were") {
  struct Case {
    std::string column;
    std::string order;
  };
  for (const Case& one : std::vector<Case>{
           {"name", "=ab"}, {"calls", "b=a"}, {"self_us", "b=a"}, {"self_share", "=ba"}, {"eligible", "ba="}}) {
    CAPTURE(one.column);
    DataTable table = example();
    REQUIRE(choose_rows(table, {one.column, std::nullopt}));
    CHECK(names(table) == one.order);
  }
  DataTable table = example();
  REQUIRE(choose_rows(table, {"calls", 2}));
  CHECK(names(table) == "b=");
}

TEST_CASE("a column that is not there is an error that lists the columns") {
  DataTable table = example();
  const Result<void> chosen = choose_rows(table, {"slef_us", std::nullopt});
  REQUIRE(!chosen);
  CHECK(to_string(chosen.error()).find("name, calls, self_us") != std::string::npos);
}

TEST_CASE("a terminal gets units and escaped names, and no column of zeros that may be left out") {
  CHECK(table_text(example()) ==
        "name           calls    self  share  eligible\n"
        "b             12,345  1.5 us    25%  yes\n"
        "=SUM(A1)\\x0a       2    0 us    75%  no\n"
        "a                  2       -      -  yes\n");
  DataTable table = example();
  table.rows[1][5] = Picoseconds{1'000'000};
  CHECK(table_text(table).find("output") != std::string::npos);
}

TEST_CASE("a cell wider than any screen does not make all rows as wide where nothing is shortened") {
  std::string out;
  const auto sink = make_table_sink(TableFormat::text, {{"name", "name", ColumnKind::any}, {"n", "n", ColumnKind::any}},
                                    {{}, 1'000, "schema"}, out);
  const std::string wide(100'000, 'a');
  sink->add({Cell(wide), Cell(std::int64_t{1})});
  for (int row = 0; row < 100; ++row) sink->add({Cell(std::string("b")), Cell(std::int64_t{2})});
  sink->finish();
  CHECK(out.find(wide + "  1\n") != std::string::npos);
  CHECK(out.size() < wide.size() + 200 * 300);
}

TEST_CASE("CSV has all columns and digits, and no formula") {
  CHECK(table_csv(example()) ==
        "name,calls,self_us,self_share,eligible,output_us\n"
        "b,12345,1.500001,0.25,true,0.000000\n"
        "'=SUM(A1)\\x0a,2,0.000000,0.75,false,0.000000\n"
        "a,2,,,true,0.000000\n");
}

TEST_CASE("JSON has an object for each row, times in microseconds, null for what is unknown") {
  const OrderedJson rows = table_json(example());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].dump() ==
        R"({"name":"b","calls":12345,"self_us":1.500001,"self_share":0.25,"eligible":true,"output_us":0.0})");
  CHECK(rows[2]["self_us"].is_null());
}

TEST_CASE("the page says how many rows are missing, and when there are none") {
  DataTable table = example();
  CHECK(rows_text({table, "a note", 3}).starts_with("a note\n\nname"));
  CHECK(rows_text({table, "", 1234}).find("... and 1,231 more rows") != std::string::npos);
  table.rows.clear();
  CHECK(rows_text({table, "", 0}) == "no rows\n");
}

}  // namespace

}  // namespace doctor::data_table_test
