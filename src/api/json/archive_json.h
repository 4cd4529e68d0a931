// Writes an expired event as one line of the archive, in the format of the API.
#pragma once

#include <string>

#include "ports/retention.h"

namespace postrider::api {

/// Returns `{"event":{…,"data":…},"deliveries":[{…,"attempts":[…]}]}` without a line break.
[[nodiscard]] std::string write_archive_line(const ExpiredEvent& expired);

}  // namespace postrider::api
