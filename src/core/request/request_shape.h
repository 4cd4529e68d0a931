// What is the same in all requests to a webhook between two changes of it. Kept once, so that the
// record of an attempt only has to name it.
#pragma once

#include <string>

#include "core/request/payload_format.h"
#include "core/request/signature.h"

namespace postrider {

struct RequestShape {
  std::string url;   // As the webhook's owner spelled it.
  std::string head;  // Request line and all headers that are the same for every attempt.
  SignaturePolicy signature;
  PayloadFormat payload_format = PayloadFormat::standard;

  bool operator==(const RequestShape&) const = default;
};

}  // namespace postrider
