// How bytes reach a client: plainly or through TLS. HttpConnection is compiled once for each, so
// that plain connections pay nothing for the choice.
#pragma once

#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace postrider::api {

class PlainStream {
 public:
  static constexpr bool is_tls = false;

  explicit PlainStream(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return socket_; }
  /// What is read from and written to.
  [[nodiscard]] boost::asio::ip::tcp::socket& bytes() { return socket_; }

 private:
  boost::asio::ip::tcp::socket socket_;
};

class TlsStream {
 public:
  static constexpr bool is_tls = true;

  /// The context may go away afterwards: OpenSSL counts who uses it.
  TlsStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& context)
      : stream_(std::move(socket), context) {}

  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return stream_.next_layer(); }
  [[nodiscard]] auto& bytes() { return stream_; }

 private:
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
};

}  // namespace postrider::api
