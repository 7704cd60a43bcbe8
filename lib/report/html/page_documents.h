#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "text/json_page.h"

namespace doctor {

/// A published document with its name on the page. Its form is that of docs/schemas.
struct PageDocument {
  std::string name;  ///< "steps" of "tfdata-doctor.steps/1"; "base_timeline" where a page has several of a kind
  OrderedJson document;
};

/// What a page is drawn from, and nothing else: whatever it shows, anybody can draw from the JSON that the commands
/// print.
class PageDocuments {
 public:
  explicit PageDocuments(std::vector<PageDocument> documents) : documents_(std::move(documents)) {}

  /// The document of that name; null if the page has none.
  const OrderedJson* find(std::string_view name) const;

  const std::vector<PageDocument>& all() const { return documents_; }

 private:
  std::vector<PageDocument> documents_;
};

// Values of a document. A key that is absent or null, as schemas allow many to be, is not an error.

/// Null if there is no such object, list or value.
const OrderedJson* find_value(const OrderedJson& object, std::string_view key);
double number_of(const OrderedJson& object, std::string_view key, double otherwise = 0);
std::optional<double> known_number(const OrderedJson& object, std::string_view key);
std::string text_of(const OrderedJson& object, std::string_view key);
bool is_true(const OrderedJson& object, std::string_view key);
/// The elements of a list; none if there is no such list.
const OrderedJson& list_of(const OrderedJson& object, std::string_view key);

/// A time of a document, which counts microseconds.
Picoseconds time_of(const OrderedJson& object, std::string_view key);
Picoseconds from_microseconds(double microseconds);

/// An iterator of a report in the user's words, "Dataset.map at input.py:33"; its short name where she wrote none.
std::string name_of_iterator(const OrderedJson& iterator);

/// Whether pipelines of the same stages that wait for these shares of the time look alike: within ten points.
bool waits_alike(double share, double other_share);

/// What makes pipelines alike: the long names of their stages, in order, a line each.
std::string long_names_of(const OrderedJson& stages);

}  // namespace doctor
