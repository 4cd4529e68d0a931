// TLS of a connection to RabbitMQ: authorities, host name or address, and why it failed.
#pragma once

#include <string>

#include <amqp.h>

#include "core/base/result.h"

#include "adapters/amqp/amqp_address.h"

namespace postrider::amqp {

/// Must outlive the opening of the socket.
struct TlsVerdict {
  std::string certificate_problem;  // Empty: the certificate was accepted, or there was none.
};

/// The library checks names in certificates but no addresses. OpenSSL checks both.
[[nodiscard]] Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t state,
                                                     const Address& address,
                                                     const std::string& ca_file,
                                                     TlsVerdict& verdict);

/// Why the socket could not be opened. Empty: not because of TLS.
[[nodiscard]] std::string tls_problem(const TlsVerdict& verdict);

}  // namespace postrider::amqp
