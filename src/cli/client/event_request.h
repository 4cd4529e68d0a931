// Builds the request body of a published event and describes the response. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

#include "cli/client/http_client.h"
#include "cli/commands/send_options.h"

namespace postrider::cli {

/// `data` is JSON text and is copied verbatim. Fails with invalid if it is not JSON.
[[nodiscard]] Result<std::string> event_body(const SendOptions& options, std::string_view data);

/// A line of text for people, including its newline.
[[nodiscard]] std::string describe_response(const ClientResponse& response);

}  // namespace postrider::cli
