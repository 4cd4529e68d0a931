// A received webhook as text: for a person, or as one JSON line for a program. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/time.h"

#include "api/http/http.h"
#include "cli/client/signature_check.h"

namespace postrider::cli {

struct ReceivedWebhook {
  api::HttpRequest request;
  WallTime received_at;
  SignatureFinding signature;
  std::uint16_t answered = 200;
};

/// A line that says what it is and a body to read, indented when it is JSON. What could steer a
/// terminal is shown as an escape.
[[nodiscard]] std::string to_text(const ReceivedWebhook& webhook, bool colour);

/// One line, newline included. The body is a member `body` when it is JSON and `body_text`
/// otherwise.
[[nodiscard]] std::string to_json_line(const ReceivedWebhook& webhook);

/// Valid JSON over several lines; every other byte stays as it is.
[[nodiscard]] std::string indent_json(std::string_view json, std::string_view margin);

/// Control characters, also those beyond ASCII, as `\xNN`. Newlines stay.
[[nodiscard]] std::string without_controls(std::string_view text);

}  // namespace postrider::cli
