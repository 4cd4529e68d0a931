// Generates the secrets of webhooks.
#pragma once

#include "core/request/secret_text.h"

#include "api/resources/api_options.h"

namespace postrider::api {

[[nodiscard]] inline Secret<std::string> make_secret(const ApiOptions& options,
                                                     SignatureScheme scheme) {
  const std::size_t length = options.secret_text_length;
  return generate_secret(scheme, options.crypto->random_bytes(secret_random_bytes(scheme, length)),
                         length);
}

}  // namespace postrider::api
