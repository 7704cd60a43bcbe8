#include "convert/event_writer.h"

namespace doctor {

std::unique_ptr<EventWriter> make_event_writer(ConvertFormat format, OutputBuffer& output) {
  switch (format) {
    case ConvertFormat::chrome:
      return chrome_writer(output);
    case ConvertFormat::ndjson:
      return ndjson_writer(output);
    case ConvertFormat::csv:
      return csv_writer(output);
  }
  return chrome_writer(output);
}

}  // namespace doctor
