// Any text as SQL over a database with a trace: it ends, changes nothing, and its rows are printed as their format
// says.

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collected_events.h"
#include "convert/output_buffer.h"
#include "fuzz_analysis.h"
#include "fuzz_traces.h"
#include "query/load_inputs.h"
#include "query/tables.h"
#include "query/user_query.h"

namespace {

using namespace doctor;

/// Steps of SQLite's machine that a statement may take: a recursion has no end of its own.
constexpr int kMostSteps = 20'000;
constexpr int kLongestValue = 100'000;

void load(QueryDatabase& database, const FuzzFile& file) {
  LoadReport report;
  const Result<void> loaded =
      load_inputs(database, examine_inputs({file.path()}, true), LoadRequest::everything(), fuzz_setup(), report);
  expect(loaded.has_value(), "a trace that no database takes");
}

QueryDatabase new_database() {
  Result<QueryDatabase> database = QueryDatabase::temporary();
  expect(database.has_value(), "no database can be made");
  return *std::move(database);
}

/// One that is made once, with a trace of the grammar's words.
QueryDatabase& stored_database() {
  static QueryDatabase database = [] {
    QueryDatabase made = new_database();
    std::vector<std::uint8_t> choices(400);
    unsigned choice = 0;
    for (std::uint8_t& byte : choices) byte = static_cast<std::uint8_t>(choice += 37);
    FuzzBytes bytes(choices.data(), choices.size());
    load(made, FuzzFile(FuzzedTrace(bytes, FuzzedWorld::hostile).to_xspace()));
    sqlite3_limit(made.handle(), SQLITE_LIMIT_LENGTH, kLongestValue);
    sqlite3_progress_handler(
        made.handle(), kMostSteps, [](void*) { return 1; }, nullptr);
    return made;
  }();
  return database;
}

void ask(QueryDatabase& database, std::string sql, TableFormat format) {
  Result<UserQuery> query = UserQuery::prepare(database, std::move(sql));
  if (!query) {
    expect(!query.error().what.empty(), "an error without words");
    return;
  }
  MemorySink sink;
  OutputBuffer output(sink);
  const Result<void> printed = print_rows(*query, format, 100, output);
  expect(output.finish().has_value(), "memory could not be written");
  if (format != TableFormat::json) {
    expect_clean_text(sink.bytes);
  } else if (printed) {
    expect_json(sink.bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  constexpr std::array kFormats = {TableFormat::text, TableFormat::json, TableFormat::csv, TableFormat::markdown};
  const unsigned choice = bytes.byte();
  const TableFormat format = kFormats[choice % 4];
  if (choice < 240) {
    const int before = sqlite3_total_changes(stored_database().handle());
    ask(stored_database(), std::string(bytes.rest()), format);
    expect(sqlite3_total_changes(stored_database().handle()) == before, "SQL that changes the database");
    return 0;
  }
  QueryDatabase database = new_database();
  load(database, FuzzFile(fuzzed_trace(bytes)));
  for (const QueryTable& table : query_tables()) ask(database, "SELECT * FROM " + std::string(table.name), format);
  return 0;
}
