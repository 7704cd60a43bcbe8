#pragma once

#include "base/result.h"
#include "command_line/request.h"

namespace doctor {

/// Fetches what a request names by URL: gs://, s3://, az://, abfs(s)://, hf://. Another program lists and reads it, the
/// first one of a table that is there: the cloud's own command, or Python with fsspec.
///
/// The files come into a private folder, each under its URL: "gs://bucket/logs/host.xplane.pb" is a path from that
/// folder, which becomes the working directory. So whatever reads, lists and names files goes by the URLs. Other paths
/// of the request become absolute. What a command does not read of a log directory is not fetched: that is found out on
/// files of the listed names, sizes and times that have no bytes yet. A process of its own removes the folder at the
/// end, and fetches for `watch` what is new.
///
/// Must be called before the sandbox begins, while there are no threads. Errors: nothing there can list or read it
/// (with what to install), it failed or ended early, names that cannot be paths, no room.
Result<void> fetch_remote_traces(Request& request);

}  // namespace doctor
