// Shared by all TLS connections of a transport: certificate authorities, protocol rules and the
// cache of sessions to resume. Not thread-safe.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <boost/asio/ssl/context.hpp>

#include "core/base/result.h"
#include "core/net/address.h"

#include "adapters/asio_http/transport.h"

namespace postrider::asio_http {

constexpr std::size_t tls_sessions_max = 2'048;   // A few KiB each.
constexpr Millis tls_session_age_max{3'600'000};  // Then the certificate is checked again.

/// The peer that a connection expects. Owned by the connection, which sets `context` to nullptr
/// before the context can be destroyed.
struct TlsPeer {
  class TlsContext* context = nullptr;
  std::string host;  // As in the URL, without brackets.
  bool is_address = false;
  std::string session_key;  // Host and port: a session must not be resumed for another host.
  MonoTime certificate_checked_at;
};

class TlsContext {
 public:
  /// Fails with: invalid.
  static Result<std::unique_ptr<TlsContext>> make(const TlsOptions& options);
  ~TlsContext();

  /// Sets the name to verify, SNI and, if there is one, the session to resume. Returns false if
  /// OpenSSL is out of memory.
  [[nodiscard]] bool prepare(SSL* ssl, TlsPeer& peer, MonoTime now);

  [[nodiscard]] boost::asio::ssl::context& native() { return context_; }
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }

 private:
  struct Session {
    std::string key;
    SSL_SESSION* session;
    MonoTime certificate_checked_at;
  };
  using Sessions = std::list<Session>;  // Most recent first.

  TlsContext();
  Result<void> configure(const TlsOptions& options);
  static int on_new_session(SSL* ssl, SSL_SESSION* session);
  void store_session(const TlsPeer& peer, SSL_SESSION* session);

  boost::asio::ssl::context context_;
  Sessions sessions_;
  std::unordered_map<std::string_view, Sessions::iterator> sessions_by_key_;
};

/// True for an error of OpenSSL, false for an error of the socket.
[[nodiscard]] bool is_tls_failure(const boost::system::error_code& failure);

/// Explains to the owner of the webhook why an established connection failed.
[[nodiscard]] std::string explain_tls_failure(const boost::system::error_code& failure);

/// Explains to the owner of the webhook why a handshake failed. `ssl` may be nullptr.
[[nodiscard]] std::string explain_handshake_failure(const boost::system::error_code& failure,
                                                    const SSL* ssl);

}  // namespace postrider::asio_http
