#include <fmt/format.h>

#include "diagnose/cores.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"
#include "words/doubt_words.h"

namespace doctor {
namespace {

/// "4 threads", "the threads" where their number is not known.
std::string counted(std::int64_t count, std::string_view one) {
  return count > 0 ? format_count(static_cast<std::uint64_t>(count), one) : fmt::format("{}s", one);
}

std::string why_unknown(const HostMeasurement& host, const JudgedLimit& limit) {
  switch (limit.unknown_because) {
    case NoLimitBecause::source_waits_or_unpacks:
      return "cores are idle, but a trace does not distinguish waiting for storage from unpacking";
    case NoLimitBecause::python:
      return fmt::format(
          "Python takes {} of the function: a trace does not distinguish computing in it, waiting for "
          "its lock, sleeping and waiting for I/O",
          format_share(limit.python_share));
    case NoLimitBecause::unknown_cores:
      return why_cores_are_unknown(host);
    case NoLimitBecause::unseen_copies:
      return fmt::format("{} copies on threads that leave no events, so cores that look idle may be busy",
                         describe(host, limit.stage));
    case NoLimitBecause::cores_half_used:
      return "the cores are neither idle nor used up";
    case NoLimitBecause::nobody_waits:
      break;
  }
  return {};
}

}  // namespace

std::string describe_limit(const HostMeasurement& host, const JudgedLimit& limit) {
  const std::string stage = limit.stage == kNoIterator ? std::string() : describe(host, limit.stage);
  const std::string idle = limit.has_idle_cores ? ", while cores are idle" : "";
  switch (limit.limit) {
    case Limit::source:
    case Limit::thread:
      return fmt::format("the {} of {}{}", limit.count == 1 ? "one thread" : counted(limit.count, "thread"), stage,
                         idle);
    case Limit::calls:
      return fmt::format("the {} of {}{}", counted(limit.count, "parallel call"), stage, idle);
    case Limit::pool:
      return limit.count > 0 ? "the pool of " + counted(limit.count, "thread") : "the pool of threads";
    case Limit::cores:
      return "the " + counted(limit.count, "core") + (stage.empty() ? "" : ", mostly used by " + stage);
    case Limit::python_lock:
      return stage.empty() ? "Python's lock, which the training needs too" : "Python's lock in " + stage;
    case Limit::outside:
      return limit.file_share > 0 ? fmt::format("files: ops that read or write them take {} of the function",
                                                format_share(limit.file_share))
                                  : "where the elements come from" + idle;
    case Limit::unknown:
      break;
  }
  return why_unknown(host, limit);
}

std::string manner_of(const JudgedLimit& limit, IteratorId culprit) {
  const bool is_own = limit.stage == culprit && culprit != kNoIterator;
  switch (limit.limit) {
    case Limit::source:
      return is_own ? "read by one thread" : "";
    case Limit::thread:
      if (!is_own) return {};
      return limit.count > 1 ? fmt::format("on {} threads", limit.count) : "one element at a time";
    case Limit::calls:
      if (!is_own || limit.count == 0) return {};
      return limit.count == 1 ? "one call at a time" : fmt::format("{} calls at a time", limit.count);
    case Limit::python_lock:
      return is_own ? "one Python call at a time" : "";
    case Limit::outside:
      return limit.file_share > 0 ? "mostly reading or writing files" : "";
    default:
      return {};
  }
}

std::string sentence_about(const JudgedLimit& limit) {
  switch (limit.limit) {
    case Limit::cores:
      return limit.count == 1  ? "The only core is busy"
             : limit.count > 0 ? fmt::format("All {} cores are busy", limit.count)
                               : "All cores are busy";
    case Limit::pool:
      return limit.count == 1  ? "The one thread of its pool is busy"
             : limit.count > 0 ? fmt::format("All {} threads of its pool are busy", limit.count)
                               : "All threads of its pool are busy";
    default:
      return {};
  }
}

}  // namespace doctor
