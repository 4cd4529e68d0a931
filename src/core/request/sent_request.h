// The request of an attempt, told again from what was kept. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/request/request.h"
#include "core/request/request_shape.h"

namespace postrider {

/// Stands in for the signature: it was right for one attempt and one secret, and is not stored.
constexpr std::string_view signature_not_kept = "[not kept]";

struct SentRequest {
  std::string url;
  Headers headers;  // In the order they were sent. Credentials were hidden before they were kept.
  std::string body;

  bool operator==(const SentRequest&) const = default;
};

/// `stamp` is that of the attempt: its time is `executed_at`.
[[nodiscard]] SentRequest tell_request(const RequestShape& shape, const Event& event,
                                       const AttemptStamp& stamp);

}  // namespace postrider
