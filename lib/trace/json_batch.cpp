#include "trace/json_batch.h"

#include <simdjson.h>

#include <cstring>

#include "trace/json_text.h"

namespace doctor {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trim_end(std::string_view text) {
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The text between the quotes of a string token; any other token as it stands.
std::string_view unquoted(std::string_view token) {
  const bool is_string = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return is_string ? token.substr(1, token.size() - 2) : token;
}

bool is_key(const char* key, std::string_view name) {
  return std::memcmp(key, name.data(), name.size()) == 0 && key[name.size()] == '"';
}

/// FNV-1a, so that the key of a name is the same in every run.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3u;
  return hash;
}

/// A process or thread: TF writes integers, other tools names.
std::uint64_t key_of(std::string_view token) {
  const std::string_view text = unquoted(token);
  if (const std::optional<std::uint64_t> number = parse_token(text)) return *number;
  return hash_of(text);
}

void take_name(std::string_view token, JsonEvent& event, JsonEventBatch& batch) {
  event.name = unquoted(token);
  if (std::memchr(event.name.data(), '\\', event.name.size()) == nullptr) return;
  std::string& text = batch.unescaped.emplace_back();
  std::string scratch;
  text = unescape_json(event.name, scratch);
  event.name = text;
}

simdjson::error_code take_arguments(ondemand::value value, JsonEvent& event) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return object.raw_json().get(event.arguments);
}

/// Takes a member of an event if it is one of those that every event needs. The last of equal keys counts.
simdjson::error_code take_member(const char* key, ondemand::value value, JsonEvent& event, JsonEventBatch& batch) {
  const auto token = [&value] { return trim_end(value.raw_json_token()); };
  switch (key[0]) {
    case 'a':
      if (is_key(key, "args") && value.raw_json_token().starts_with('{')) return take_arguments(value, event);
      break;
    case 'd':
      if (is_key(key, "dur")) event.duration_text = parse_microseconds(unquoted(token()), event.duration);
      break;
    case 'n':
      if (is_key(key, "name")) take_name(token(), event, batch);
      break;
    case 'p':
      if (is_key(key, "pid")) {
        event.process = key_of(token());
      } else if (is_key(key, "ph")) {
        const std::string_view phase = unquoted(token());
        event.phase = phase.empty() ? '\0' : phase.front();
      }
      break;
    case 't':
      if (is_key(key, "tid")) {
        event.thread = key_of(token());
      } else if (is_key(key, "ts")) {
        event.start_text = parse_microseconds(unquoted(token()), event.start);
      }
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code take_event(ondemand::value element, JsonEventBatch& batch) {
  ondemand::object object;
  if (const auto error = element.get_object().get(object)) return error;
  JsonEvent& event = batch.events.emplace_back();
  bool is_empty = true;
  for (auto member : object) {
    ondemand::raw_json_string key;
    ondemand::value value;
    if (const auto error = member.key().get(key)) return error;
    if (const auto error = member.value().get(value)) return error;
    if (const auto error = take_member(key.raw(), value, event, batch)) return error;
    is_empty = false;
  }
  if (is_empty) batch.events.pop_back();
  return simdjson::SUCCESS;
}

}  // namespace

const std::size_t JsonBatchParser::kPadding = simdjson::SIMDJSON_PADDING + 1;

struct JsonBatchParser::State {
  ondemand::parser parser{std::size_t{1} << 32};

  ParsedBatch parse_array(char* array, std::size_t size, JsonEventBatch& batch);
};

JsonBatchParser::JsonBatchParser() : state_(std::make_unique<State>()) {}
JsonBatchParser::~JsonBatchParser() = default;

ParsedBatch JsonBatchParser::State::parse_array(char* array, std::size_t size, JsonEventBatch& batch) {
  ParsedBatch parsed;
  ondemand::document document;
  ondemand::array elements;
  const simdjson::padded_string_view text(array, size, size + simdjson::SIMDJSON_PADDING);
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return parsed;
  if (document.get_array().get(elements) != simdjson::SUCCESS) return parsed;
  parsed.has_structure = true;

  for (auto item : elements) {
    ondemand::value element;
    if (item.get(element) != simdjson::SUCCESS) return parsed;
    const std::string_view token = element.raw_json_token();
    const std::size_t events_before = batch.events.size();
    if (!token.starts_with('{') || take_event(element, batch) != simdjson::SUCCESS) {
      batch.events.resize(events_before);
      return parsed;
    }
    const char* next = nullptr;
    if (document.current_location().get(next) != simdjson::SUCCESS) return parsed;
    parsed.consumed = static_cast<std::size_t>(next - array) - 1;
  }
  const char* rest = nullptr;
  parsed.is_end_of_array = document.current_location().get(rest) == simdjson::SUCCESS;
  parsed.consumed = parsed.is_end_of_array ? static_cast<std::size_t>(rest - array) - 1 : size - 2;
  return parsed;
}

ParsedBatch JsonBatchParser::parse(char* text, std::size_t size, JsonEventBatch& batch) {
  // A bracket after the array would look like a part of it to simdjson's quick check for unbalanced documents.
  const char before = text[-1];
  const char after[2] = {text[size], text[size + 1]};
  text[-1] = '[';
  text[size] = ']';
  text[size + 1] = ' ';
  const ParsedBatch parsed = state_->parse_array(text - 1, size + 2, batch);
  text[-1] = before;
  text[size] = after[0];
  text[size + 1] = after[1];
  return parsed;
}

}  // namespace doctor
