// Any bytes as an SQLite database of ours: baselines and query databases are read, or refused with words, and reading
// changes nothing.

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "compare/baseline_store.h"
#include "fuzz_directory.h"
#include "query/query_database.h"
#include "query/user_query.h"

namespace {

using namespace doctor;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void read_rows(QueryDatabase& database) {
  sqlite3_progress_handler(
      database.handle(), 20'000, [](void*) { return 1; }, nullptr);
  for (const std::string table : {"traces", "events", "calls"}) {
    Result<UserQuery> query = UserQuery::prepare(database, "SELECT * FROM " + table + " LIMIT 100");
    if (!query) continue;
    for (Result<bool> has_row = query->next(); has_row && *has_row; has_row = query->next()) {
      for (std::size_t column = 0; column < query->columns().size(); ++column) static_cast<void>(query->value(column));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzDirectory directory;
  FuzzBytes bytes(data, size);
  const unsigned choice = bytes.byte();
  const std::string_view stored = bytes.rest();
  const std::string path = directory.write("fuzz.db", stored).string();
  sniff_baseline(stored);
  if ((choice & 1U) == 0) {
    const Result<std::vector<StoredRun>> runs = load_baseline(path);
    expect(runs || !runs.error().what.empty(), "an error without words");
  } else {
    Result<QueryDatabase> database = QueryDatabase::open(path, DatabaseMode::read);
    if (database) read_rows(*database);
    expect(database || !database.error().what.empty(), "an error without words");
  }
  expect(bytes_of(path) == stored, "reading changed the file");
  return 0;
}
