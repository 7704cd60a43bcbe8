// Pages of `show` about what was analysed.
#pragma once

#include <string>

#include "pipeline.h"
#include "report/page.h"

namespace doctor {

inline std::string page_text(const Page& page, const Measurements& measurements, const Diagnosis& diagnosis,
                             const ShowOptions& options = {}) {
  return page.text_of({measurements, diagnosis, options}).value();
}
/// Of an Analysis, or of a case that has as much.
template <typename Analysed>
std::string page_text(const Page& page, const Analysed& analysis, const ShowOptions& options = {}) {
  return page_text(page, analysis.measurements, analysis.diagnosis, options);
}

inline OrderedJson page_document(const Page& page, const Measurements& measurements, const Diagnosis& diagnosis,
                                 const ShowOptions& options = {}) {
  return page.document_of({measurements, diagnosis, options}).value();
}
template <typename Analysed>
OrderedJson page_document(const Page& page, const Analysed& analysis, const ShowOptions& options = {}) {
  return page_document(page, analysis.measurements, analysis.diagnosis, options);
}

/// All rows of a page.
inline DataTable page_rows(const Page& page, const Measurements& measurements, const ShowOptions& options = {}) {
  return page.rows({measurements, Diagnosis(), options})->table;
}
inline std::string page_csv(const Page& page, const Analysis& analysis, const ShowOptions& options = {}) {
  return table_csv(page.rows({analysis.measurements, analysis.diagnosis, options})->table);
}

}  // namespace doctor
