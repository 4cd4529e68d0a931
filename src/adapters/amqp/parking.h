// Keeps rejected messages in a queue of their own, with the reason.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/base/result.h"

#include "adapters/amqp/amqp_link.h"
#include "adapters/amqp/queue_message.h"

namespace postrider::amqp {

/// The header with the sentence that says why a message was rejected.
constexpr const char* reason_header = "x-postrider-reason";

struct ParkingOptions {
  std::string source_queue;
  std::string parking_queue;
};

/// Publishes on a link with confirms. The message keeps its body, properties and headers, except
/// those by which the server would route, expire or refuse it; these become headers
/// `x-postrider-…`.
class Parking {
 public:
  Parking(ParkingOptions options, Link& link);

  [[nodiscard]] Result<void> publish(const QueueMessage& message, const std::string& reason);

  /// Waits until the server has confirmed all messages.
  [[nodiscard]] Result<void> await_confirms();

 private:
  [[nodiscard]] Result<void> handle(const amqp_method_t& method);
  [[nodiscard]] Result<void> check_accepted() const;

  ParkingOptions options_;
  Link& link_;
  std::uint64_t published_ = 0;
  std::set<std::uint64_t> unconfirmed_;
};

}  // namespace postrider::amqp
