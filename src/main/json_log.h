// The same log line as JSON: `delivery.attempted attempt=1 error="…"` becomes
// {"time":"…","level":"info","message":"delivery.attempted","attempt":1,"error":"…"}.
//
// Pure. Lines are written once, as text, wherever something happens; this only spells them
// differently, so both formats have the same fields and the same guards (P11).
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

struct LogLine {
  WallTime at;
  std::string_view level;
  std::string_view text;  // The event's name, then `key=value` and `key="value"`.
};

/// One object, without a line feed. `message` is the event's name; what is no field is in `rest`.
[[nodiscard]] std::string to_json_line(const LogLine& line);

}  // namespace postrider
