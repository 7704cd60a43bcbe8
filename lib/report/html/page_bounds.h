#pragma once

#include <cstddef>
#include <vector>

#include "report/html/page_documents.h"
#include "text/json_page.h"

namespace doctor {

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
