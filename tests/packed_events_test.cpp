// Statements that are answered without tables, from events packed in memory.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "asked_database.h"
#include "convert/convert.h"
#include "convert/event_columns.h"
#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "query/load_inputs.h"
#include "query/user_query.h"
#include "run_tool.h"
#include "written_gpu_traces.h"

namespace doctor::query_test {
namespace {

/// The traces' events in memory, and nothing else.
QueryDatabase packed(const std::vector<std::string>& paths, std::size_t most_events,
                     EventRequest request = {.rows = true, .names = true, .tokens = true}, bool only_counts = false) {
  Result<QueryDatabase> database = QueryDatabase::with_packed_events(most_events);
  REQUIRE(database);
  if (only_counts) database->events()->only_count();
  LoadRequest events;
  events.events = request;
  LoadReport report;
  const Result<void> loaded =
      load_inputs(*database, examine_inputs(paths, true), events, {.rules = all_rules()}, report);
  CHECK(loaded.has_value() != database->events()->is_full());
  return std::move(*database);
}

TEST_CASE("events that are packed in memory give the answers of the tables") {
  const QueryDatabase tables = loaded(kSomeTraces);
  const QueryDatabase memory = packed(kSomeTraces, 1'000'000);
  for (const char* const sql : {
           "SELECT count(*) FROM events",
           "SELECT file, host, process, thread, pid, tid, name, long_name, op_type, origin_ns, start_us, duration_us,"
           " iterator_id, parent_id FROM events",
           "SELECT name, count(*), sum(duration_us), min(start_us) FROM events GROUP BY name",
           "SELECT iterator_id, group_concat(tid) FROM events GROUP BY iterator_id",
           "SELECT iterator_id, group_concat(tid) FROM events GROUP BY iterator_id ORDER BY count(*) DESC",
           "SELECT iterator_id, start_us FROM events ORDER BY iterator_id DESC",
           "SELECT thread, count(*), sum(duration_us) FROM events GROUP BY thread ORDER BY 2 DESC",
           "SELECT thread, max(start_us) FROM events GROUP BY thread ORDER BY thread DESC",
           "SELECT thread, max(duration_us) FROM events WHERE op_type <> '' GROUP BY thread HAVING count(*) > 3",
           "SELECT name, start_us FROM events ORDER BY name",
           "SELECT name, start_us FROM events ORDER BY name DESC",
           "SELECT DISTINCT long_name FROM events",
           "SELECT long_name, start_us FROM events ORDER BY duration_us DESC, start_us LIMIT 20",
           "SELECT typeof(pid), typeof(origin_ns), typeof(start_us), typeof(parent_id) FROM events LIMIT 5",
           "SELECT count(*) FROM events WHERE start_us > '1'",
           "SELECT count(*) FROM events WHERE pid = '1'",
           "SELECT sum(duration_us) OVER (PARTITION BY name ORDER BY start_us) FROM events LIMIT 100",
       }) {
    CAPTURE(sql);
    const Result<UserQuery> query = UserQuery::prepare(memory, sql);
    REQUIRE(query);
    CHECK(query->reads_only_events());
    CHECK(answer(memory, sql) == answer(tables, sql));
  }
}

TEST_CASE("packed events come in the order of their groups, whichever way the answer is sorted") {
  const QueryDatabase memory = packed({}, 10);
  for (const char* const sql : {"SELECT name, count(*) FROM events GROUP BY name",
                                "SELECT thread, count(*) FROM events GROUP BY thread ORDER BY thread DESC",
                                "SELECT name FROM events ORDER BY name DESC"}) {
    CAPTURE(sql);
    CHECK(answer(memory, "EXPLAIN " + std::string(sql)).find("SorterOpen") == std::string::npos);
  }
  // That of the answers alone.
  const std::string plan =
      answer(memory, "EXPLAIN SELECT name, count(*) FROM events GROUP BY name ORDER BY count(*) DESC");
  CHECK(plan.find("SorterOpen") == plan.rfind("SorterOpen"));
}

TEST_CASE("packed events have no more of names and ids than a statement reads") {
  const QueryDatabase all = packed(kSomeTraces, 1'000'000);
  struct Row {
    const char* sql;
    bool names;
    bool tokens;
  };
  for (const Row& row :
       {Row{"SELECT count(*) FROM events", false, false},
        Row{"SELECT thread, sum(duration_us), min(start_us) FROM events GROUP BY thread", false, false},
        Row{"SELECT name, count(*) FROM events GROUP BY name ORDER BY 2 DESC", true, false},
        Row{"SELECT count(*) FROM events WHERE op_type = 'Cast'", true, false},
        Row{"SELECT long_name, parent_id FROM events ORDER BY start_us", true, true},
        Row{"SELECT count(DISTINCT iterator_id) FROM events", true, true}}) {
    CAPTURE(row.sql);
    const Result<UserQuery> query = UserQuery::prepare(all, row.sql);
    REQUIRE(query);
    CHECK(query->needs().event_names == row.names);
    CHECK(query->needs().event_tokens == row.tokens);
    const QueryDatabase some = packed(kSomeTraces, 1'000'000, {.rows = true, .names = row.names, .tokens = row.tokens});
    CHECK(answer(some, row.sql) == answer(all, row.sql));
  }
}

TEST_CASE("only what reads events once, and nothing else, is asked of packed ones") {
  const QueryDatabase memory = packed({}, 10);
  for (const char* const sql : {"SELECT args FROM events", "SELECT * FROM events", "SELECT count(*) FROM event_rows",
                                "SELECT count(*) FROM events AS a JOIN events AS b ON a.name = b.name",
                                "SELECT count(*) FROM events JOIN files", "SELECT 1"}) {
    CAPTURE(sql);
    const Result<UserQuery> query = UserQuery::prepare(memory, sql);
    REQUIRE(query);
    CHECK_FALSE(query->reads_only_events());
  }
}

TEST_CASE("events of which no column is read are only counted, however many there are") {
  const QueryDatabase counted = packed(kSomeTraces, 0, {.rows = true}, true);
  const QueryDatabase memory = packed(kSomeTraces, 1'000'000);
  struct Row {
    const char* sql;
    bool reads_columns;
  };
  for (const Row& row : {Row{"SELECT count(*) FROM events", false}, Row{"SELECT 7 FROM events LIMIT 3", false},
                         Row{"SELECT count(pid) FROM events", true}, Row{"SELECT rowid FROM events", true},
                         Row{"SELECT count(*) FROM events WHERE name = 'a'", true}}) {
    CAPTURE(row.sql);
    const Result<UserQuery> query = UserQuery::prepare(counted, row.sql);
    REQUIRE(query);
    CHECK(query->needs().event_columns == row.reads_columns);
    if (!row.reads_columns) CHECK(answer(counted, row.sql) == answer(memory, row.sql));
  }
}

TEST_CASE("what does not fit is noticed, and what cannot be read leaves no packed events") {
  CHECK(packed(kSomeTraces, 10).events()->is_full());
  const TemporaryDirectory folder;
  const std::string torn = folder.write("torn.trace.json", "{\"traceEvents\":[] nothing");
  const QueryDatabase memory = packed({kSomeTraces[0]}, 1'000'000);
  CHECK(answer(packed({kSomeTraces[0], torn}, 1'000'000), "SELECT count(*) FROM events") ==
        answer(memory, "SELECT count(*) FROM events"));
}

}  // namespace
}  // namespace doctor::query_test
