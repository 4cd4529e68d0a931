// Error messages for the owner of a webhook: complete sentences, with technical terms only where
// the owner can act on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

namespace postrider::asio_http {

/// For example `Could not connect to 203.0.113.7 port 443: the connection was refused.`
[[nodiscard]] std::string explain_connect_failure(std::string_view address, std::uint16_t port,
                                                  const boost::system::error_code& failure);

/// What had arrived when the connection was lost.
struct PartialResponse {
  bool started = false;
  std::uint16_t status = 0;  // 0: not known yet.
  std::string missing;       // What is missing of the body; empty if it is not known.
};

/// The connection was lost before the response was complete.
[[nodiscard]] std::string explain_broken_connection(const boost::system::error_code& failure,
                                                    const PartialResponse& response);

/// The peer closed the connection, with or without a TLS close_notify.
[[nodiscard]] bool is_end_of_stream(const boost::system::error_code& failure);

/// The peer closed a TLS connection without close_notify. Anybody on the way may have cut it.
[[nodiscard]] bool is_cut_stream(const boost::system::error_code& failure);

/// The limit of open file descriptors is reached.
[[nodiscard]] bool is_out_of_descriptors(const boost::system::error_code& failure);

/// This server lacks descriptors or memory. Says nothing about the receiver.
[[nodiscard]] bool is_own_shortage(const boost::system::error_code& failure);

}  // namespace postrider::asio_http
