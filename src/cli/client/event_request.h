// The body of a publish and the sentence its answer deserves. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

#include "cli/client/http_client.h"
#include "cli/commands/send_options.h"

namespace postrider::cli {

/// `data` is the JSON itself and is passed on verbatim. Errc::invalid: it is not JSON.
[[nodiscard]] Result<std::string> event_body(const SendOptions& options, std::string_view data);

/// One line for a person; newline included.
[[nodiscard]] std::string describe_answer(const ClientResponse& response);

}  // namespace postrider::cli
