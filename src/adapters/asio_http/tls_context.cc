#include "adapters/asio_http/tls_context.h"

#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace postrider::asio_http {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::array<unsigned char, 9> alpn_http_1_1 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int peer_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

std::string reason_of(const boost::system::error_code& failure) {
  const char* reason = is_tls_failure(failure)
                           ? ERR_reason_error_string(static_cast<unsigned long>(failure.value()))
                           : nullptr;
  return reason != nullptr ? std::string{reason} : failure.message();
}

}  // namespace

TlsContext::TlsContext() : context_(ssl::context::tls_client) {}

TlsContext::~TlsContext() {
  for (const Session& kept : sessions_) {
    SSL_SESSION_free(kept.session);
  }
}

Result<std::unique_ptr<TlsContext>> TlsContext::make(const TlsOptions& options) {
  std::unique_ptr<TlsContext> context{new TlsContext};
  POSTRIDER_CHECK(context->configure(options));
  return context;
}

Result<void> TlsContext::configure(const TlsOptions& options) {
  boost::system::error_code failure;
  SSL_CTX* native = context_.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_security_level(native, 2);  // 112 bits: no RSA below 2048, no SHA-1 signatures.
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(native, alpn_http_1_1.data(), alpn_http_1_1.size());
  // OpenSSL's own cache is keyed by session id; a client needs one keyed by host and port.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(native, &TlsContext::on_new_session);

  if (options.default_authorities) {
    context_.set_default_verify_paths(failure);
    if (failure) {
      return fail(Errc::invalid,
                  fmt::format("The system's certificate authorities cannot be read: {}.",
                              failure.message()));
    }
  }
  if (!options.authorities_file.empty()) {
    context_.load_verify_file(options.authorities_file, failure);
    if (failure) {
      return fail(Errc::invalid,
                  fmt::format("Certificate authorities cannot be read from '{}': {}.",
                              options.authorities_file, failure.message()));
    }
  }
  if (!options.authorities_pem.empty()) {
    context_.add_certificate_authority(boost::asio::buffer(options.authorities_pem), failure);
    if (failure) {
      return fail(Errc::invalid,
                  fmt::format("The PEM text of certificate authorities is malformed: {}.",
                              failure.message()));
    }
  }
  return {};
}

bool TlsContext::prepare(SSL* ssl, TlsPeer& peer, MonoTime now) {
  peer.context = this;
  peer.certificate_checked_at = now;
  if (SSL_set_ex_data(ssl, peer_index(), &peer) != 1) {
    return false;
  }
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl);
  // The common name is ignored, and a wildcard must be a whole label (RFC 9525).
  X509_VERIFY_PARAM_set_hostflags(
      expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (peer.is_address) {
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, peer.host.c_str()) != 1) {
      return false;
    }
  } else if (X509_VERIFY_PARAM_set1_host(expected, peer.host.data(), peer.host.size()) != 1 ||
             SSL_set_tlsext_host_name(ssl, peer.host.c_str()) != 1) {
    return false;
  }
  const auto found = sessions_by_key_.find(peer.session_key);
  if (found != sessions_by_key_.end() &&
      now - found->second->certificate_checked_at < tls_session_age_max) {
    // A resumed session presents no certificate, so it inherits the time of the last check. If the
    // receiver does not resume, the next check only comes earlier than needed.
    peer.certificate_checked_at = found->second->certificate_checked_at;
    SSL_set_session(ssl, found->second->session);
  }
  return true;
}

int TlsContext::on_new_session(SSL* ssl, SSL_SESSION* session) {
  const auto* peer = static_cast<const TlsPeer*>(SSL_get_ex_data(ssl, peer_index()));
  if (peer == nullptr || peer->context == nullptr || SSL_SESSION_is_resumable(session) != 1) {
    return 0;
  }
  peer->context->store_session(*peer, session);
  return 1;  // The cache owns the reference now.
}

void TlsContext::store_session(const TlsPeer& peer, SSL_SESSION* session) {
  if (const auto found = sessions_by_key_.find(peer.session_key); found != sessions_by_key_.end()) {
    SSL_SESSION_free(found->second->session);
    found->second->session = session;
    found->second->certificate_checked_at = peer.certificate_checked_at;
    sessions_.splice(sessions_.begin(), sessions_, found->second);
    return;
  }
  if (sessions_.size() >= tls_sessions_max) {
    sessions_by_key_.erase(sessions_.back().key);
    SSL_SESSION_free(sessions_.back().session);
    sessions_.pop_back();
  }
  sessions_.push_front(Session{peer.session_key, session, peer.certificate_checked_at});
  sessions_by_key_.emplace(sessions_.front().key, sessions_.begin());
}

bool is_tls_failure(const boost::system::error_code& failure) {
  return failure.category() == boost::asio::error::get_ssl_category();
}

std::string explain_tls_failure(const boost::system::error_code& failure) {
  return fmt::format("The TLS connection to the receiver failed: {}.", reason_of(failure));
}

std::string explain_handshake_failure(const boost::system::error_code& failure, const SSL* ssl) {
  const long verified = ssl == nullptr ? X509_V_OK : SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) {
    return fmt::format("The receiver's TLS certificate was rejected: {}.",
                       X509_verify_cert_error_string(verified));
  }
  return fmt::format("The TLS handshake with the receiver failed: {}.", reason_of(failure));
}

}  // namespace postrider::asio_http
