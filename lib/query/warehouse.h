#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace doctor {

enum class Warehouse : std::uint8_t { bigquery, clickhouse, duckdb, spark };

/// The warehouses' names on the command line, in the order of Warehouse.
inline constexpr std::array<std::string_view, 4> kWarehouseNames = {"bigquery", "clickhouse", "duckdb", "spark"};

/// The lines that are loaded: those of `convert --format ndjson`, or those of `batch`.
enum class LoadedTable : std::uint8_t { events, rows };

inline constexpr std::array<std::string_view, 2> kLoadedTableNames = {"events", "rows"};

/// The definition of a table that takes the lines as they are, in the language of the warehouse: a schema file for `bq
/// load`, SQL with the loading statement for ClickHouse and DuckDB, a DDL string for spark.read.schema().
std::string warehouse_schema(Warehouse warehouse, LoadedTable table);

}  // namespace doctor
