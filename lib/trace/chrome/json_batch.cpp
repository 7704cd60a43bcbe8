#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "base/hash.h"
#include "base/short_text.h"
#include "trace/chrome/json_events.h"

namespace doctor {
namespace {

/// What a byte may be outside of strings, as bits.
enum ByteUse : std::uint8_t { kSpace = 1, kNoScalar = 2 };

/// Of all bytes. No scalar begins with a bracket, a separator or '\0', which is the end.
constexpr std::array<std::uint8_t, 256> kUses = [] {
  std::array<std::uint8_t, 256> uses = {};
  for (unsigned byte = 0; byte < uses.size(); ++byte) uses[byte] = is_json_space(static_cast<char>(byte)) ? kSpace : 0;
  for (const char c : std::string_view("{}[],:\0", 7)) uses[static_cast<unsigned char>(c)] |= kNoScalar;
  return uses;
}();

inline bool is_of_use(char c, ByteUse use) {
  return (kUses[static_cast<unsigned char>(c)] & use) != 0;
}

/// The text between the quotes of a string token; any other token as it stands.
[[gnu::always_inline]] inline std::string_view unquoted(std::string_view token) {
  const bool is_string = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return is_string ? std::string_view(token.data() + 1, token.size() - 2) : token;
}

/// Whether `key` is the string literal `name`, whose size the compiler knows.
template <std::size_t kSize>
inline bool is_key(std::string_view key, const char (&name)[kSize]) {
  return key.size() == kSize - 1 && std::memcmp(key.data(), name, kSize - 1) == 0;
}

/// A process or thread: TF writes integers, other tools names.
std::uint64_t key_of(std::string_view token) {
  const std::string_view text = unquoted(token);
  if (const std::optional<std::uint64_t> number = parse_token(text)) return *number;
  return fnv1a_64(text);
}

void take_name(std::string_view token, JsonEvent& event, JsonEventBatch& batch) {
  event.name = unquoted(token);
  if (std::memchr(event.name.data(), '\\', event.name.size()) == nullptr) return;
  std::string& text = batch.unescaped.emplace_back();
  std::string scratch;
  text = unescape_json(event.name, scratch);
  event.name = text;
}

/// Walks over the structural characters of a piece of text, which simdjson has found: brackets, commas, colons, and the
/// first character of every string, number or word. Checks the grammar of events; of what lies deeper only that
/// brackets match.
class StructureWalk {
 public:
  /// `places` holds the offsets of the structural characters, followed by the size of the text.
  StructureWalk(std::string_view text, std::span<const std::uint32_t> places)
      : text_(text.data()), size_(text.size()), next_(places.data()), end_(places.data() + places.size()) {}

  bool at_end() const { return next_ == end_; }
  /// The character that comes next; '\0' at the end.
  char peek() const { return at_end() ? '\0' : text_[*next_]; }
  std::size_t place() const { return *next_; }
  void advance() { ++next_; }

  /// Takes a string, number or word with the white space after it stripped; empty if a bracket or nothing is next.
  [[gnu::always_inline]] std::string_view take_scalar() {
    if (is_of_use(peek(), kNoScalar)) return {};
    const char* const begin = text_ + *next_++;
    const char* end = text_ + (at_end() ? size_ : *next_);
    while (is_of_use(end[-1], kSpace)) --end;  // it begins with none
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  /// Takes the key of a member and the colon; the key without its quotes, escapes not undone.
  [[gnu::always_inline]] bool take_key(std::string_view& key) {
    if (end_ - next_ < 2) return take_any_key(key);
    const char* const begin = text_ + next_[0];
    const char* const colon = text_ + next_[1];
    const bool is_usual = *begin == '"' && *colon == ':' && colon[-1] == '"' && colon - begin >= 2;
    if (!is_usual) return take_any_key(key);
    next_ += 2;
    key = {begin + 1, static_cast<std::size_t>(colon - begin) - 2};
    return true;
  }

  /// The same with white space before the colon, or damaged.
  bool take_any_key(std::string_view& key) {
    if (peek() != '"') return false;
    const std::string_view token = take_scalar();
    if (token.size() < 2 || token.back() != '"' || peek() != ':') return false;
    advance();
    key = {token.data() + 1, token.size() - 2};
    return true;
  }

  /// Takes an object or array with everything in it; its text, empty if its end is missing.
  std::string_view take_nested() {
    const std::size_t begin = place();
    std::size_t depth = 0;
    for (; !at_end(); advance()) {
      const char c = peek();
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return take_bracket(begin);
    }
    return {};
  }

  /// Takes the bracket that is next; the text from `begin` to it.
  std::string_view take_bracket(std::size_t begin) {
    const std::size_t end = place() + 1;
    advance();
    return {text_ + begin, end - begin};
  }

  /// Takes any value; empty if there is none.
  [[gnu::always_inline]] std::string_view take_value() {
    const char first = peek();
    return first == '{' || first == '[' ? take_nested() : take_scalar();
  }

 private:
  const char* text_;
  std::size_t size_;
  const std::uint32_t* next_;
  const std::uint32_t* end_;
};

/// Takes the members of an `args` object, as far as they can be separated.
void take_members(StructureWalk& inside, JsonEvent& event, JsonEventBatch& batch) {
  const std::size_t first = batch.members.size();
  do {
    inside.advance();  // the bracket, or the comma
    std::string_view key;
    if (!inside.take_key(key)) break;
    const std::string_view value = inside.take_value();
    if (value.empty()) break;
    batch.members.push_back({key, unquoted(value), value.front() == '"'});
  } while (inside.peek() == ',');
  event.first_member = static_cast<std::uint32_t>(first);
  event.member_count = static_cast<std::uint32_t>(batch.members.size() - first);
}

/// Takes an `args` object and its members; its text, empty if its end is missing.
std::string_view take_arguments(StructureWalk& walk, JsonEvent& event, JsonEventBatch& batch) {
  StructureWalk inside = walk;
  take_members(inside, event, batch);
  if (inside.peek() != '}') return walk.take_nested();
  // No bracket is open but the first one.
  const std::size_t begin = walk.place();
  walk = inside;
  return walk.take_bracket(begin);
}

/// The processes and threads of events that follow each other are mostly the same: a token that stands there again
/// need not be understood again.
struct LastKey {
  std::string_view token;
  std::uint64_t key = 0;

  [[gnu::always_inline]] std::uint64_t of(std::string_view next) {
    if (!is_last(next)) {
      key = key_of(next);
      token = next;
    }
    return key;
  }

 private:
  /// Both have eight bytes or more from their begin on: what is parsed has padding after it.
  [[gnu::always_inline]] bool is_last(std::string_view next) const {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (std::endian::native != std::endian::little || next.size() > kWord) return is_same_text(next, token);
    if (next.size() != token.size() || next.empty()) return false;
    return (load_word(next.data()) ^ load_word(token.data())) << (kWord - next.size()) * 8 == 0;
  }
};

/// What is read of a piece of text, and where it goes.
struct BatchWalk {
  StructureWalk walk;
  JsonEventBatch& batch;
  bool splits_arguments;
  LastKey process{};
  LastKey thread{};

  ParsedBatch take_events(std::size_t text_size);
  bool take_event();
  bool take_member(std::string_view key, JsonEvent& event);
};

/// Takes the value of a member if it is one of those that every event needs. The last of equal keys counts.
bool BatchWalk::take_member(std::string_view key, JsonEvent& event) {
  if (is_key(key, "args") && walk.peek() == '{') {
    event.arguments = splits_arguments ? take_arguments(walk, event, batch) : walk.take_nested();
    return !event.arguments.empty();
  }
  const std::string_view token = walk.take_value();
  if (token.empty() || key.empty()) return !token.empty();
  switch (key[0]) {
    case 'd':
      if (is_key(key, "dur")) event.duration_text = parse_separated_microseconds(unquoted(token), event.duration);
      break;
    case 'n':
      if (is_key(key, "name")) take_name(token, event, batch);
      break;
    case 'p':
      if (is_key(key, "pid")) {
        event.process = process.of(token);
      } else if (is_key(key, "ph")) {
        const std::string_view phase = unquoted(token);
        event.phase = phase.empty() ? '\0' : phase.front();
      }
      break;
    case 't':
      if (is_key(key, "tid")) {
        event.thread = thread.of(token);
      } else if (is_key(key, "ts")) {
        event.start_text = parse_separated_microseconds(unquoted(token), event.start);
      }
      break;
    default:
      break;
  }
  return true;
}

/// Takes one event. False where it is not JSON; what was added to the batch must then be taken back.
bool BatchWalk::take_event() {
  walk.advance();
  if (walk.peek() == '}') {  // `{}`, which TF writes as the last element
    walk.advance();
    return true;
  }
  JsonEvent& event = batch.events.emplace_back();
  while (true) {
    std::string_view key;
    if (!walk.take_key(key) || !take_member(key, event)) return false;
    const char after = walk.peek();
    if (after != ',' && after != '}') return false;
    walk.advance();
    if (after == '}') return true;
  }
}

/// How far the text is a list of events.
ParsedBatch BatchWalk::take_events(std::size_t text_size) {
  ParsedBatch parsed;
  parsed.has_structure = true;
  while (walk.peek() == '{') {
    const std::size_t events_before = batch.events.size();
    if (!take_event()) {
      batch.events.resize(events_before);
      return parsed;
    }
    parsed.consumed = walk.at_end() ? text_size : walk.place();
    if (walk.peek() != ',') break;
    walk.advance();
  }
  parsed.is_end_of_array = walk.peek() == ']';
  if (parsed.is_end_of_array) parsed.consumed = walk.place() + 1;
  return parsed;
}

}  // namespace

const std::size_t JsonBatchParser::kPadding = simdjson::SIMDJSON_PADDING;

struct JsonBatchParser::State {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> structure;
};

JsonBatchParser::JsonBatchParser() : state_(std::make_unique<State>()) {}
JsonBatchParser::~JsonBatchParser() = default;

ParsedBatch JsonBatchParser::parse(std::string_view text, bool splits_arguments, JsonEventBatch& batch) {
  // simdjson's first stage alone, in the implementation for this processor: it validates UTF-8 and strings and finds
  // the structural characters. Its second stage would build values that nobody wants. The interface is internal to
  // simdjson, so CMakeLists.txt checks the version, and a test what it finds. On-Demand, which is public, takes as many
  // instructions for the same tokens, but it reads no list without brackets and does not say where the last sound event
  // of a damaged one ends.
  constexpr std::size_t kDepth = 1;  // of the second stage
  auto& structure = state_->structure;
  if (!structure) {
    const auto error =
        simdjson::get_active_implementation()->create_dom_parser_implementation(text.size(), kDepth, structure);
    if (error != simdjson::SUCCESS) throw std::bad_alloc();
  } else if (structure->capacity() < text.size() && structure->set_capacity(text.size()) != simdjson::SUCCESS) {
    throw std::bad_alloc();
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (structure->stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) return {};
  const std::span places(structure->structural_indexes.get(), structure->n_structural_indexes);
  return BatchWalk{StructureWalk(text, places), batch, splits_arguments}.take_events(text.size());
}

void ByteWindow::fill(std::size_t size) {
  if (is_last_ || end_ - begin_ >= size) return;
  if (begin_ + size + padding_ > buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (size + padding_ > buffer_.size()) buffer_.resize(size + padding_);
  }
  while (end_ - begin_ < size && !is_last_) {
    const std::size_t count = read(buffer_.data() + end_, begin_ + size - end_);
    is_last_ = count == 0;
    end_ += count;
  }
}

std::size_t ByteWindow::read(char* buffer, std::size_t capacity) {
  if (waiting_begin_ < waiting_.size()) {
    const std::size_t count = waiting_.copy(buffer, capacity, waiting_begin_);
    waiting_begin_ += count;
    return count;
  }
  if (error_) return 0;
  const Result<std::size_t> count = source_.read(buffer, capacity);
  if (!count) error_ = count.error();
  bytes_read_ += count.value_or(0);
  return count.value_or(0);
}

std::string_view ByteWindow::cut(std::size_t size, std::vector<char>& buffer) {
  const std::string_view rest = text().substr(size);
  if (buffer.size() < std::max(buffer_.size(), rest.size() + padding_)) buffer.resize(buffer_.size());
  std::memcpy(buffer.data(), rest.data(), rest.size());
  buffer.swap(buffer_);
  const std::string_view taken(buffer.data() + begin_, size);
  begin_ = 0;
  end_ = rest.size();
  return taken;
}

void ByteWindow::put_back(std::string bytes, std::size_t size) {
  std::vector<char> buffer(size + padding_);
  std::memcpy(buffer.data(), bytes.data(), size);
  buffer_ = std::move(buffer);
  begin_ = 0;
  end_ = size;
  waiting_ = std::move(bytes);
  waiting_begin_ = size;
  is_last_ = false;  // which the next fill() finds out
}

}  // namespace doctor
