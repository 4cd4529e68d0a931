// Formats a received webhook as text for people or as a JSON line for programs. Pure.
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

/// One summary line and the body, indented if it is JSON. Control characters are escaped.
[[nodiscard]] std::string to_text(const ReceivedWebhook& webhook, bool colour);

/// One line including its newline. The body is the member `body` if it is JSON, otherwise
/// `body_text`.
[[nodiscard]] std::string to_json_line(const ReceivedWebhook& webhook);

/// Breaks and indents valid JSON. Changes only white space.
[[nodiscard]] std::string indent_json(std::string_view json, std::string_view margin);

/// Escapes control characters, including U+0080 to U+009F, as `\xNN`. Keeps newlines.
[[nodiscard]] std::string without_controls(std::string_view text);

}  // namespace postrider::cli
