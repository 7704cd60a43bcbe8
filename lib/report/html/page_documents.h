#pragma once

#include <cstddef>
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

/// Makes documents some that can be sent to others: wherever they name a file, in a sentence too, its folders are
/// dropped, for they may say whose it is. The examples of `fleet` are links where they are relative, and stay.
void drop_folders(std::vector<PageDocument>& documents);

/// Entries of a list that has no bound of its own: as many columns as a pointer can hit in a picture of usual width.
inline constexpr std::size_t kMostOfList = 100;

/// Cuts lists to what a person looks at, so that a page is small however large its trace is. The number of entries that
/// are gone from a list stands beside it, as `<list>_left_out`; series over time are thinned out instead, their ends
/// stay. Of the pipelines those go first whose calls are the waits of another.
void bound_for_page(OrderedJson& document);

/// A stretch of a window that is shorter than one part of so many is not drawn: a pixel on a screen.
inline constexpr double kWindowHairlines = 1000;

/// Takes out of the data of a page, by name, what it does not draw.
void drop_invisible(OrderedJson& documents);

}  // namespace doctor
