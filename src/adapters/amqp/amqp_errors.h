// Sentences about failures of RabbitMQ and its library. The only translation of library errors.
#pragma once

#include <string>
#include <string_view>

#include <amqp.h>

#include "core/base/result.h"

#include "adapters/amqp/amqp_address.h"

namespace postrider::amqp {

[[nodiscard]] inline std::string_view view(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}
/// The library does not change what it is given.
[[nodiscard]] inline amqp_bytes_t bytes(std::string_view text) {
  return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}

/// Text of a server or publisher on one line of printable ASCII, shortened if it is long.
[[nodiscard]] std::string printable(std::string_view text);

/// `status` is a code of the library, or AMQP_STATUS_OK. `detail` of TLS can be empty.
[[nodiscard]] Error connect_error(const Address& address, int status, std::string_view detail);
[[nodiscard]] Error connection_error(const Address& address, int status);

/// The server closed the connection or the channel with `method`.
[[nodiscard]] Error closed_error(const amqp_method_t& method);
/// The answer to a call that failed. `action` completes "RabbitMQ did not …".
[[nodiscard]] Error reply_error(const Address& address, const amqp_rpc_reply_t& reply,
                                std::string_view action);

/// The code with which the server closed the channel, or zero.
[[nodiscard]] int channel_close_code(const amqp_rpc_reply_t& reply);

}  // namespace postrider::amqp
