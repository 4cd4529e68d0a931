#include "adapters/asio_http/failure_text.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>

namespace postrider::asio_http {
namespace {

namespace error = boost::asio::error;

std::string clause(const boost::system::error_code& failure) {
  if (failure == error::connection_refused) {
    return "the connection was refused";
  }
  if (failure == error::network_unreachable || failure == error::host_unreachable) {
    return "there is no route to the host";
  }
  if (failure == error::timed_out) {
    return "the host did not answer";
  }
  if (is_out_of_descriptors(failure)) {
    return "this server has no free file descriptor";
  }
  if (failure == boost::system::errc::address_not_available) {
    return "this server has no free local port";
  }
  if (is_own_shortage(failure)) {
    return "this server is short of memory";
  }
  if (failure == error::connection_reset || failure == error::broken_pipe) {
    return "the connection was reset";
  }
  return failure.message();
}

}  // namespace

bool is_end_of_stream(const boost::system::error_code& failure) {
  return failure == error::eof || failure == boost::asio::ssl::error::stream_truncated;
}

bool is_cut_stream(const boost::system::error_code& failure) {
  return failure == boost::asio::ssl::error::stream_truncated;
}

bool is_own_shortage(const boost::system::error_code& failure) {
  namespace errc = boost::system::errc;
  return is_out_of_descriptors(failure) || failure == errc::no_buffer_space ||
         failure == errc::not_enough_memory ||
         failure == errc::no_space_on_device;  // Of the watches of epoll.
}

bool is_out_of_descriptors(const boost::system::error_code& failure) {
  return failure == boost::system::errc::too_many_files_open ||
         failure == boost::system::errc::too_many_files_open_in_system;
}

std::string explain_connect_failure(std::string_view address, std::uint16_t port,
                                    const boost::system::error_code& failure) {
  return fmt::format("Could not connect to {} port {}: {}.", address, port, clause(failure));
}

std::string explain_broken_connection(const boost::system::error_code& failure,
                                      const PartialResponse& response) {
  const std::string what =
      is_end_of_stream(failure)
          ? "The receiver closed the connection"
          : fmt::format("The connection to the receiver broke ({})", clause(failure));
  if (response.status != 0) {
    return fmt::format("{} in the middle of the response (status {}){}{}.", what, response.status,
                       response.missing.empty() ? "" : ": ", response.missing);
  }
  return fmt::format(
      "{} {}.", what,
      response.started ? "in the middle of the response" : "before a response arrived");
}

}  // namespace postrider::asio_http
