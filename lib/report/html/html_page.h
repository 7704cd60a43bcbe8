#pragma once

#include "text/json_page.h"

namespace doctor {

/// What a page is drawn from, and nothing else: whatever it shows, anybody can draw from the JSON that the commands
/// print. An object of documents, in the form of docs/schemas, by name: "steps" of "tfdata-doctor.steps/1", or
/// "base_timeline" where a page has several of a kind.
using PageDocuments = OrderedJson;

// Values of a document. A key that is absent or null, as schemas allow many to be, is not an error.

/// Null if there is no such object, list or value.
const OrderedJson* find_value(const OrderedJson& object, std::string_view key);
/// The document of that name; null if the page has none.
inline const OrderedJson* find_document(const PageDocuments& documents, std::string_view name) {
  return find_value(documents, name);
}
double number_of(const OrderedJson& object, std::string_view key, double otherwise = 0);
std::optional<double> known_number(const OrderedJson& object, std::string_view key);
std::string text_of(const OrderedJson& object, std::string_view key);
bool is_true(const OrderedJson& object, std::string_view key);
/// The elements of a list; none if there is no such list.
const OrderedJson& list_of(const OrderedJson& object, std::string_view key);

/// An iterator of a report in the user's words, "Dataset.map at input.py:33"; its short name where she wrote none.
std::string name_of_iterator(const OrderedJson& iterator);

/// Whether pipelines of the same stages that wait for these shares of the time look alike: within ten points.
bool waits_alike(double share, double other_share);

/// What makes pipelines alike: the long names of their stages, in order, a line each.
std::string long_names_of(const OrderedJson& stages);

/// Drops the folders of every file that the documents name, in a sentence too: a folder may say whose it is, and pages
/// are sent to others. The examples of `fleet` are links where they are relative, and stay.
void drop_folders(PageDocuments& documents);

/// Entries of a list that has no bound of its own: as many columns as a pointer can hit in a picture of usual width.
inline constexpr std::size_t kMostOfList = 60;

/// Cuts lists to what a person looks at, so that a page is small however large its trace is. The number of entries that
/// are gone from a list stands beside it, as `<list>_left_out`; series over time are thinned out instead, their ends
/// stay. Of the pipelines those go first whose calls are the waits of another.
/// `share`: of the usual number of entries; less makes the page smaller.
void bound_for_page(OrderedJson& document, double share);

/// A stretch of a window that is shorter than one part of so many is not drawn: two pixels on a screen.
inline constexpr double kWindowHairlines = 500;

/// Takes the stretches of calls and the spans of threads out of the data of a page, by name: they are most of its
/// bytes, and the page shows no number of them.
void drop_drawn_spans(PageDocuments& documents);

/// A page for a browser, drawn from published documents (docs/schemas): a section for each that is known, in the order
/// in which a person asks. One self-contained file: it loads nothing, its style and script are named by their hashes in
/// its content security policy, and the documents lie in it as inert data. Without a script all of it is there but
/// zooming and copying. A page of more than 200 KB is drawn again with half as many entries of each list, then with a
/// quarter. `title` is foreign text. The same documents give the same bytes.
std::string render_html(PageDocuments documents, std::string_view title);

/// A page of one document. `text` stands where no section draws it: what the command prints for a person; empty: a
/// section does.
std::string render_document_html(std::string_view name, OrderedJson document, std::string_view title,
                                 const std::string& text = {});

/// What sets the pace, drawn from `pace` of a report: a picture of its own, for a comment or a notebook. It loads
/// nothing and follows the colours of the reader. Empty where there is no pace.
std::string render_pace_svg(const OrderedJson& pace);

/// A comparison (`tfdata-doctor.comparison/1`) as one picture in SVG, for an artifact or a page that shows images: the
/// outcome, and for the step and the parts that changed most a dot for each recording. Needs nothing from elsewhere.
std::string render_comparison_svg(const OrderedJson& comparison);

/// What the build embedded in every page: lib/report/html/page.css, page.js and patterns.html.
extern const std::string_view kPageStyle, kPageScript, kPagePatterns;
/// Of pictures in files of their own: picture.css beside them.
extern const std::string_view kPictureStyle;

/// The source of a content security policy that allows exactly this text: "sha256-...".
std::string content_hash(std::string_view text);

}  // namespace doctor
