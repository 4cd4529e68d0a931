// Reconstructs the request of a past attempt from stored data. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/request/request.h"
#include "core/request/request_shape.h"

namespace postrider {

/// Shown in place of the signature, which is not stored.
constexpr std::string_view signature_not_kept = "[not kept]";

struct SentRequest {
  std::string url;
  Headers headers;  // In the order they were sent. Credentials are hidden before storing.
  std::string body;

  bool operator==(const SentRequest&) const = default;
};

/// Splits the bytes of a request that RequestTemplate wrote.
[[nodiscard]] SentRequest parse_request(std::string url, std::string_view bytes);

/// `stamp` describes the attempt. Its `now` is the attempt's `executed_at`.
[[nodiscard]] SentRequest reconstruct_request(const RequestShape& shape, const Event& event,
                                              const AttemptStamp& stamp);

}  // namespace postrider
