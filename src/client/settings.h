// Checks the options of a client. Pure.
#pragma once

#include <postrider/client.h>

#include "core/base/result.h"
#include "core/net/target_url.h"

#include "client/backoff.h"
#include "client/http_message.h"
#include "client/send_queue.h"

namespace postrider::client {

/// Valid options, in the form in which the client uses them.
struct ClientSettings {
  TargetUrl server;
  RequestHead head;
  QueueLimits limits;
  BackoffLimits backoff;
  Millis request_timeout{0};
  Millis close_timeout{0};
};

/// Fails with invalid and a sentence.
[[nodiscard]] Result<ClientSettings> check_options(const ClientOptions& options);

}  // namespace postrider::client
