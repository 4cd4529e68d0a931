// What an owner of a webhook reads when a request to it failed. Sentences, without jargon where the
// owner could not act on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

namespace postrider::asio_http {

/// For example `Could not connect to 203.0.113.7 port 443: the connection was refused.`
[[nodiscard]] std::string explain_connect_failure(std::string_view address, std::uint16_t port,
                                                  const boost::system::error_code& failure);

/// The connection broke before a complete response had come. `status` is 0 when not even that had.
[[nodiscard]] std::string explain_broken_connection(const boost::system::error_code& failure,
                                                    bool response_started, std::uint16_t status);

/// The peer has ended its side in an orderly way or by dropping it, TLS or not.
[[nodiscard]] bool is_end_of_stream(const boost::system::error_code& failure);

/// This process may not open another descriptor.
[[nodiscard]] bool is_out_of_descriptors(const boost::system::error_code& failure);

}  // namespace postrider::asio_http
