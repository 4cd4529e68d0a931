// What the server prints on standard output when it is ready. Pure.
#pragma once

#include <string>

#include "core/base/time.h"

namespace postrider {

struct Banner {
  WallTime at;
  std::string address;  // A URL without a path.
  std::string data;
  std::string admin_key;    // Empty: there is no new one to show.
  std::string sign_in_url;  // Empty: none.
};

/// Several lines for a person.
[[nodiscard]] std::string to_text(const Banner& banner);

/// One line with the fields of a log line: `{"time":…,"level":"info","message":"server.banner",…}`.
/// Missing values are null.
[[nodiscard]] std::string to_json(const Banner& banner);

}  // namespace postrider
