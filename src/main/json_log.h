// Converts a log line to JSON: `delivery.attempted attempt=1 error="…"` becomes
// {"time":"…","level":"info","message":"delivery.attempted","attempt":1,"error":"…"}.
//
// Pure. Code logs text lines only; both formats therefore have the same fields and the same
// protection of secrets (P11).
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

struct LogLine {
  WallTime at;
  std::string_view level;
  std::string_view text;  // The event name, then `key=value` and `key="value"`.
};

/// Appends one object without a line feed. `message` is the event name; `rest` is text that is not
/// a field.
void append_json_line(const LogLine& line, std::string& out);

}  // namespace postrider
