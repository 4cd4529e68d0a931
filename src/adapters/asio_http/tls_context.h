// What all TLS connections of a transport share: authorities, rules, and sessions to resume.
// Not thread-safe.
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
constexpr Millis tls_session_age_max{3'600'000};  // Then the certificate is looked at again.

/// Whom a connection expects at the other end. Owned by the connection, which lets go of `context`
/// (sets it to nullptr) before the context can be gone.
struct TlsPeer {
  class TlsContext* context = nullptr;
  std::string host;  // As in the URL, without brackets.
  bool is_address = false;
  std::string session_key;  // Host and port.
  MonoTime certificate_seen_at;
};

class TlsContext {
 public:
  /// Fails with: invalid.
  static Result<std::unique_ptr<TlsContext>> make(const TlsOptions& options);
  ~TlsContext();

  /// Prepares a fresh session for `peer`: name to verify, SNI, ALPN, and an earlier session to
  /// resume. False when OpenSSL is out of memory.
  [[nodiscard]] bool prepare(SSL* ssl, TlsPeer& peer, MonoTime now);

  [[nodiscard]] boost::asio::ssl::context& native() { return context_; }
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }

 private:
  struct Session {
    std::string key;
    SSL_SESSION* session;
    MonoTime certificate_seen_at;
  };
  using Sessions = std::list<Session>;  // Most recent first.

  TlsContext();
  Result<void> configure(const TlsOptions& options);
  static int on_new_session(SSL* ssl, SSL_SESSION* session);
  void keep(const TlsPeer& peer, SSL_SESSION* session);

  boost::asio::ssl::context context_;
  Sessions sessions_;
  std::unordered_map<std::string_view, Sessions::iterator> sessions_by_key_;
};

/// OpenSSL's own complaint, as opposed to the socket's.
[[nodiscard]] bool is_tls_failure(const boost::system::error_code& failure);

/// Why an established connection failed, as a sentence for the webhook's owner.
[[nodiscard]] std::string explain_tls_failure(const boost::system::error_code& failure);

/// Why a handshake failed, as a sentence for the webhook's owner.
[[nodiscard]] std::string explain_handshake_failure(const boost::system::error_code& failure,
                                                    const SSL* ssl);

}  // namespace postrider::asio_http
