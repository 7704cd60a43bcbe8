#pragma once

#include "report/html/html_writer.h"
#include "report/html/page_documents.h"

namespace doctor {

// The sections of a page, each drawn from the documents that it names; one whose document is absent writes nothing.

void add_comparison_section(const PageDocuments& documents, HtmlWriter& page);  ///< comparison, with both reports
void add_history_section(const PageDocuments& documents, HtmlWriter& page);     ///< history
void add_fleet_section(const PageDocuments& documents, HtmlWriter& page);       ///< fleet
void add_verdict_section(const PageDocuments& documents, HtmlWriter& page);     ///< report
void add_advice_section(const PageDocuments& documents, HtmlWriter& page);      ///< report
void add_whatif_section(const PageDocuments& documents, HtmlWriter& page);      ///< whatif
void add_pace_section(const PageDocuments& documents, HtmlWriter& page);        ///< report, or pace
void add_pipeline_section(const PageDocuments& documents, HtmlWriter& page);    ///< report, with autotune
void add_timeline_section(const PageDocuments& documents, HtmlWriter& page);    ///< timeline, with report
void add_steps_section(const PageDocuments& documents, HtmlWriter& page);       ///< steps, with report
void add_function_section(const PageDocuments& documents, HtmlWriter& page);    ///< report
void add_buffers_section(const PageDocuments& documents, HtmlWriter& page);     ///< autotune
void add_ops_section(const PageDocuments& documents, HtmlWriter& page);         ///< ops
void add_kernels_section(const PageDocuments& documents, HtmlWriter& page);     ///< kernels
void add_memory_section(const PageDocuments& documents, HtmlWriter& page);      ///< memory
void add_hosts_section(const PageDocuments& documents, HtmlWriter& page);       ///< hosts
void add_findings_section(const PageDocuments& documents, HtmlWriter& page);    ///< report, with explanations
/// text, of what no section draws: as a terminal shows it.
void add_plain_section(const PageDocuments& documents, HtmlWriter& page);
void add_recording_section(const PageDocuments& documents, HtmlWriter& page);  ///< report

}  // namespace doctor
