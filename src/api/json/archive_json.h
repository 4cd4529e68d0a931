// An event that leaves the store, as one line of its archive: the words of the API.
#pragma once

#include <string>

#include "ports/retention.h"

namespace postrider::api {

/// `{"event":{…,"data":…},"deliveries":[{…,"attempts":[…]}]}`, without a line break.
[[nodiscard]] std::string write_archive_line(const ExpiredEvent& old);

}  // namespace postrider::api
