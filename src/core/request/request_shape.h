// The part that all requests to a webhook have in common until the webhook is changed. Stored once;
// the record of an attempt refers to it.
#pragma once

#include <string>

#include "core/base/time.h"
#include "core/request/payload_format.h"
#include "core/request/signature.h"

namespace postrider {

struct RequestShape {
  std::string url;   // As the webhook's owner wrote it.
  std::string head;  // Request line and all headers that are the same for every attempt.
  SignaturePolicy signature;
  BodyStyle body;
  WallTime next_signature_until;  // Requests before this time have a next_signature_header.

  bool operator==(const RequestShape&) const = default;
};

}  // namespace postrider
