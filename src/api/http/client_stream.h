// The byte stream to a client: plain TCP or TLS. HttpConnection is a template over these two types,
// so that plain connections have no overhead.
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
  /// The stream to read from and write to.
  [[nodiscard]] boost::asio::ip::tcp::socket& bytes() { return socket_; }

 private:
  boost::asio::ip::tcp::socket socket_;
};

class TlsStream {
 public:
  static constexpr bool is_tls = true;

  /// `context` need not outlive this object: OpenSSL counts references to it.
  TlsStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& context)
      : stream_(std::move(socket), context) {}

  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return stream_.next_layer(); }
  [[nodiscard]] auto& bytes() { return stream_; }

 private:
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
};

}  // namespace postrider::api
