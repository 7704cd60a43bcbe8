#include "trace/chrome/json_events.h"

#include <algorithm>
#include <functional>

#include "base/ordered_work.h"

namespace doctor {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestKey = 4096;       // of a top-level member; nothing above is looked at as a whole
constexpr std::size_t kLongestBoundary = 4096;  // `},{` with whitespace in it
/// A file that was made large and never written to: no event follows so many zeros.
constexpr std::size_t kMostZeros = std::size_t{1} << 20;
constexpr int kBoundaryGuesses = 3;
constexpr int kNothing = -1;

/// How much of the text stands before the next event: white space and commas.
std::size_t count_separators(std::string_view text) {
  const auto found = std::find_if_not(text.begin(), text.end(), [](char c) { return is_json_space(c) || c == ','; });
  return static_cast<std::size_t>(found - text.begin());
}

}  // namespace

struct JsonEventReader::State {
  enum class Place { before_events, events, after_events, end };
  /// What became of the event at the front of the window.
  enum class Step { taken, needs_more, left_events };

  /// A piece of the array on its way through the threads.
  struct Piece {
    std::vector<char> buffer;
    std::string_view bytes;          ///< in the buffer: the separators before the events, and the events
    std::string_view text;           ///< the events alone
    std::size_t text_in_window = 0;  ///< how much text the window held from the first event on
    JsonBatchParser parser;
    JsonEventBatch batch;
    ParsedBatch parsed;

    /// Whether it was cut in the right place, and nothing of it is damaged.
    bool is_whole() const { return parsed.consumed == text.size() && !parsed.is_end_of_array; }
  };
  using Pieces = OrderedWork<Piece, std::function<bool(Piece&)>, std::function<void(Piece&)>>;

  State(ByteSource& bytes, const JsonReadOptions& read_options)
      : source(bytes), options(read_options), window(bytes, JsonBatchParser::kPadding) {
    options.work.window_size = std::max<std::size_t>(options.work.window_size, 16);
  }

  void start_threads();
  bool cut_piece(Piece& piece);
  void parse_piece(Piece& piece) const;
  const JsonEventBatch* next_piece();
  void go_on_alone(const Piece& last);
  void note_progress();

  void find_events();
  bool skip_member();
  void skip_value();
  int peek();

  void read_window();
  void read_filled_window();
  bool parse_window();
  void read_carefully();
  Step take_front();
  Step take_object(std::string_view text, std::size_t size);
  void find_next_event();
  void skip_separators();
  void leave_events(bool is_closed);
  void drain();

  ByteSource& source;
  JsonReadOptions options;
  ByteWindow window;
  JsonBatchParser parser;
  JsonEventBatch batch;
  JsonDocument document;
  Place place = Place::before_events;
  std::size_t wanted = 0;           ///< window size that the event at the front needs
  std::uint64_t careful_until = 0;  ///< up to this offset events are separated one by one
  bool is_searching = false;        ///< the front lies within a malformed event
  std::size_t zeros = 0;            ///< the bytes before the front, while searching, that are 0

  bool is_ahead = false;         ///< windows are parsed ahead by `pieces`
  std::optional<Pieces> pieces;  ///< last, for its threads use what stands above
};

void JsonEventReader::State::note_progress() {
  if (options.work.progress != nullptr) options.work.progress->bytes_read = source.stored_position();
}

void JsonEventReader::State::start_threads() {
  is_ahead = place == Place::events && options.work.threads > 1;
  if (!is_ahead) return;
  pieces.emplace(
      options.work.threads, [this](Piece& piece) { return cut_piece(piece); },
      [this](Piece& piece) { parse_piece(piece); });
}

/// Cuts the next window off the text: the same that read_window() would parse. False where the end is near or no event
/// ends within a window: what remains is read by one thread.
bool JsonEventReader::State::cut_piece(Piece& piece) {
  window.fill(options.work.window_size);
  note_progress();
  const std::size_t separators = count_separators(window.text());
  const std::string_view text = window.text().substr(separators);
  const std::size_t end = window.is_last() ? 0 : last_event_boundary(text);
  if (end == 0) return false;
  piece.text_in_window = text.size();
  piece.bytes = window.cut(separators + end, piece.buffer);
  piece.text = piece.bytes.substr(separators);
  return true;
}

/// On any thread.
void JsonEventReader::State::parse_piece(Piece& piece) const {
  piece.batch.clear();
  piece.parsed = piece.parser.parse(piece.text, options.splits_arguments, piece.batch);
}

/// The events of the next window that was parsed ahead; null where the rest is for one thread.
const JsonEventBatch* JsonEventReader::State::next_piece() {
  while (is_ahead) {
    const Piece* const piece = pieces->next();
    if (piece == nullptr) {
      is_ahead = false;
    } else if (!piece->is_whole()) {
      go_on_alone(*piece);
    } else if (!piece->batch.events.empty()) {
      return &piece->batch;
    }
  }
  return nullptr;
}

/// Takes everything back from the window on that was cut in the wrong place, and reads it as one thread would have
/// done: with the same bytes in the window, so that damage is dealt with in the same way.
void JsonEventReader::State::go_on_alone(const Piece& last) {
  is_ahead = false;
  std::string rest(last.text);
  pieces->abandon([&](const Piece& piece) { rest += piece.bytes; });
  rest += window.text();
  window.put_back(std::move(rest), last.text_in_window);
  read_filled_window();
}

/// The next character that is not white space, left in place; kNothing at the end.
int JsonEventReader::State::peek() {
  while (true) {
    if (window.text().empty()) window.fill(options.work.window_size);
    const std::string_view text = window.text();
    if (text.empty()) return kNothing;
    const auto found = std::find_if_not(text.begin(), text.end(), is_json_space);
    window.consume(static_cast<std::size_t>(found - text.begin()));
    if (found != text.end()) return static_cast<unsigned char>(window.text().front());
  }
}

/// Goes to the first event: into a bare array, or over the members of the top-level object to traceEvents.
void JsonEventReader::State::find_events() {
  window.fill(options.work.window_size);
  if (window.text().starts_with(kByteOrderMark)) window.consume(kByteOrderMark.size());
  const int first = peek();
  if (first == '[') {
    window.consume(1);
    document.has_events = true;
    place = Place::events;
    return;
  }
  place = Place::after_events;
  if (first != '{') return;
  window.consume(1);
  while (skip_member()) {
  }
}

/// Goes over one top-level member, or into the array of events; false where nothing is left to go over.
bool JsonEventReader::State::skip_member() {
  if (peek() == ',') window.consume(1);
  if (peek() != '"') return false;
  window.fill(kLongestKey);
  const JsonExtent key = measure_json_value(window.text());
  if (key.status != JsonExtent::Status::complete) return false;
  const bool is_events = window.text().substr(0, key.size) == "\"traceEvents\"";
  window.consume(key.size);
  if (peek() != ':') return false;
  window.consume(1);
  if (peek() == '[' && is_events) {
    window.consume(1);
    document.has_events = true;
    place = Place::events;
    return false;
  }
  skip_value();
  return true;
}

/// Goes over a value of any size without holding it.
void JsonEventReader::State::skip_value() {
  std::size_t depth = 0;
  bool is_in_string = false;
  bool is_escaped = false;
  for (; !window.text().empty() || peek() != kNothing; window.consume(window.text().size())) {
    const std::string_view text = window.text();
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      bool is_end = false;
      if (is_in_string) {
        if (is_escaped || c == '\\') {
          is_escaped = !is_escaped;
        } else if (c == '"') {
          is_in_string = false;
          is_end = depth == 0;
        }
      } else if (c == '"') {
        is_in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']' || c == ',') {
        if (depth == 0) return window.consume(at);
        if (c != ',') is_end = --depth == 0;
      }
      if (is_end) return window.consume(at + 1);
    }
  }
}

void JsonEventReader::State::skip_separators() {
  window.consume(count_separators(window.text()));
}

/// Fills the batch with the events of the next window, or finds out that there are none left.
void JsonEventReader::State::read_window() {
  window.fill(std::max(options.work.window_size, wanted));
  note_progress();
  if (is_searching) return find_next_event();
  skip_separators();
  read_filled_window();
}

void JsonEventReader::State::read_filled_window() {
  if (window.text().empty()) {
    if (window.is_last()) leave_events(false);
    return;
  }
  if (window.offset() < careful_until || !parse_window()) read_carefully();
}

/// Parses all complete events of the window at once. False if the event at the front must be looked at by itself.
bool JsonEventReader::State::parse_window() {
  std::size_t end = last_event_boundary(window.text());
  if (end == 0) careful_until = window.offset() + window.text().size();
  ParsedBatch parsed;
  for (int guess = 0; guess < kBoundaryGuesses && end > 0 && !parsed.has_structure; ++guess) {
    careful_until = std::max(careful_until, window.offset() + end);
    parsed = parser.parse(window.text().substr(0, end), options.splits_arguments, batch);
    if (!parsed.has_structure) end = last_event_boundary(window.text().substr(0, end));
  }
  if (parsed.consumed == 0) return false;
  if (parsed.consumed == end || parsed.is_end_of_array) careful_until = 0;
  window.consume(parsed.consumed);
  wanted = 0;
  if (parsed.is_end_of_array) leave_events(true);
  return true;
}

/// Takes events one by one until the doubtful part of the window is over.
void JsonEventReader::State::read_carefully() {
  do {
    const Step step = take_front();
    if (step != Step::taken) return;
    wanted = 0;
    skip_separators();
  } while (!is_searching && window.offset() < careful_until && !window.text().empty());
}

JsonEventReader::State::Step JsonEventReader::State::take_front() {
  const std::string_view text = window.text();
  if (text.front() == ']') {
    window.consume(1);
    leave_events(true);
    return Step::left_events;
  }
  const JsonExtent extent = measure_json_value(text);
  switch (extent.status) {
    case JsonExtent::Status::complete:
      return take_object(text, extent.size);
    case JsonExtent::Status::malformed:
      ++document.malformed_events;
      is_searching = true;
      return Step::taken;
    case JsonExtent::Status::incomplete:
      break;
  }
  if (window.is_last()) {
    leave_events(false);
    return Step::left_events;
  }
  if (text.size() < options.largest_event) {
    wanted = std::min(std::max(text.size(), options.work.window_size) * 2, options.largest_event);
  } else if (batch.events.empty()) {  // skipping reads on, which would pull the text from under the batch
    ++document.oversized_events;
    skip_value();
  }
  return Step::needs_more;
}

JsonEventReader::State::Step JsonEventReader::State::take_object(std::string_view text, std::size_t size) {
  const bool is_object = text.front() == '{';
  const bool is_understood =
      is_object && parser.parse(text.substr(0, size), options.splits_arguments, batch).consumed == size;
  if (!is_understood) ++document.malformed_events;
  window.consume(size);
  return Step::taken;
}

/// Goes on from an event whose end cannot be known: the next one begins where an event seems to begin.
void JsonEventReader::State::find_next_event() {
  const std::string_view text = window.text();
  const std::size_t next = first_event_boundary(text);
  is_searching = next == std::string_view::npos && !window.is_last();
  if (next != std::string_view::npos) {
    window.consume(next);
  } else if (window.is_last()) {
    window.consume(text.size());
    leave_events(text.find(']') != std::string_view::npos);
  } else {
    const std::size_t passed = text.size() - std::min(text.size() / 2, kLongestBoundary);
    zeros = text.find_first_not_of('\0') == std::string_view::npos ? zeros + passed : 0;
    window.consume(passed);
    if (zeros >= kMostZeros) leave_events(false);
  }
}

void JsonEventReader::State::leave_events(bool is_closed) {
  document.is_cut_off = !is_closed;
  place = Place::after_events;
}

/// Reads on to the end, where a compressed source reports whether it was whole.
void JsonEventReader::State::drain() {
  place = Place::end;
  document.bytes = window.bytes_read();
  document.read_error = window.error();
  constexpr std::uint64_t kStep = std::uint64_t{1} << 30;
  while (!document.read_error) {
    const Result<std::uint64_t> skipped = source.skip(kStep);
    if (!skipped) {
      document.read_error = skipped.error();
    } else {
      document.bytes += *skipped;
      if (*skipped < kStep) break;
    }
  }
}

JsonEventReader::JsonEventReader(ByteSource& source, const JsonReadOptions& options)
    : state_(std::make_unique<State>(source, options)) {}

JsonEventReader::~JsonEventReader() = default;

const JsonDocument& JsonEventReader::document() const {
  return state_->document;
}

const JsonEventBatch* JsonEventReader::next() {
  state_->batch.clear();
  if (state_->place == State::Place::before_events) {
    state_->find_events();
    state_->start_threads();
  }
  if (const JsonEventBatch* const batch = state_->next_piece()) return batch;
  while (state_->place == State::Place::events && state_->batch.events.empty()) state_->read_window();
  if (!state_->batch.events.empty()) return &state_->batch;
  if (state_->place == State::Place::after_events) state_->drain();
  return nullptr;
}

}  // namespace doctor
