#include "adapters/redis/tls_session.h"

#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "core/base/assert.h"
#include "core/net/address.h"

namespace postrider::redis {
namespace {

std::string openssl_reason() {
  const unsigned long error = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(error)) {
    return std::system_category().message(ERR_GET_REASON(error));
  }
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown error" : reason;
}

tl::unexpected<Error> unavailable(std::string message) {
  return fail(Errc::unavailable, std::move(message));
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

Result<Context> make_context(const std::string& ca_file) {
  Context context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  POSTRIDER_ASSERT(context != nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                     : SSL_CTX_load_verify_file(context.get(), ca_file.c_str());
  if (loaded != 1) {
    return unavailable(fmt::format("Certificate authorities cannot be read from `{}`: {}.", ca_file,
                                   openssl_reason()));
  }
  return context;
}

bool expect_host(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl);
  // The common name is ignored, and a wildcard must be a whole label (RFC 9525).
  X509_VERIFY_PARAM_set_hostflags(
      expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (IpAddress::parse(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1;
  }
  return X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

struct TlsSession::State {
  ByteStream& stream;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl;
  BIO* received;  // Owned by `ssl`.
  BIO* to_send;   // Owned by `ssl`.
  std::vector<char> chunk = std::vector<char>(65'536);

  Result<void> flush(const Timer& deadline) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(to_send, &bytes);
    if (size > 0) {
      POSTRIDER_CHECK(stream.write({bytes, static_cast<std::size_t>(size)}, deadline));
      BIO_reset(to_send);
    }
    return {};
  }

  /// Returns false if the wait was interrupted.
  Result<bool> fill(const WaitLimits& limits) {
    POSTRIDER_TRY(const std::size_t count, stream.read(chunk.data(), chunk.size(), limits));
    if (count > 0) {
      BIO_write(received, chunk.data(), static_cast<int>(count));
    }
    return count > 0;
  }

  [[nodiscard]] tl::unexpected<Error> handshake_failure() const {
    const long verified = SSL_get_verify_result(ssl.get());
    if (verified != X509_V_OK) {
      return unavailable(fmt::format("The TLS certificate of Redis was rejected: {}.",
                                     X509_verify_cert_error_string(verified)));
    }
    return unavailable(fmt::format("The TLS handshake with Redis failed: {}.", openssl_reason()));
  }

  Result<void> handshake(const Timer& deadline) {
    while (true) {
      ERR_clear_error();
      const int done = SSL_do_handshake(ssl.get());
      const int wanted = SSL_get_error(ssl.get(), done);
      // The alert that explains a failure is sent too, if the peer still listens.
      Result<void> flushed = flush(deadline);
      if (done == 1) {
        return flushed;
      }
      if (wanted != SSL_ERROR_WANT_READ) {
        return handshake_failure();
      }
      POSTRIDER_CHECK(flushed);
      // A port without TLS does not answer at all.
      if (const Result<bool> filled = fill({deadline}); !filled) {
        return unavailable("The TLS handshake with Redis failed. " + filled.error().message);
      }
    }
  }
};

TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

TlsSession::~TlsSession() = default;

Result<std::unique_ptr<TlsSession>> TlsSession::start(ByteStream& stream, const std::string& host,
                                                      const std::string& ca_file,
                                                      const Timer& deadline) {
  ERR_clear_error();
  POSTRIDER_TRY(const Context context, make_context(ca_file));
  auto state = std::make_unique<State>(State{
      stream, {SSL_new(context.get()), SSL_free}, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem())});
  SSL* ssl = state->ssl.get();
  POSTRIDER_ASSERT(ssl != nullptr && state->received != nullptr && state->to_send != nullptr);
  SSL_set_bio(ssl, state->received, state->to_send);
  SSL_set_connect_state(ssl);
  if (!expect_host(ssl, host)) {
    return unavailable(fmt::format("`{}` is not a host name that TLS can verify.", host));
  }
  POSTRIDER_CHECK(state->handshake(deadline));
  return std::unique_ptr<TlsSession>{new TlsSession{std::move(state)}};
}

Result<void> TlsSession::write(std::string_view bytes, const Timer& deadline) {
  while (!bytes.empty()) {
    ERR_clear_error();
    std::size_t written = 0;
    if (SSL_write_ex(state_->ssl.get(), bytes.data(), bytes.size(), &written) != 1) {
      return unavailable(fmt::format("The TLS connection to Redis failed: {}.", openssl_reason()));
    }
    bytes.remove_prefix(written);
  }
  return state_->flush(deadline);
}

Result<std::size_t> TlsSession::read(char* to, std::size_t size, const WaitLimits& limits) {
  while (true) {
    ERR_clear_error();
    std::size_t count = 0;
    if (SSL_read_ex(state_->ssl.get(), to, size, &count) == 1) {
      return count;
    }
    switch (SSL_get_error(state_->ssl.get(), 0)) {
      case SSL_ERROR_WANT_READ:
        break;
      case SSL_ERROR_ZERO_RETURN:
        return unavailable("The connection to Redis was lost: Redis closed it.");
      default:
        return unavailable(
            fmt::format("The TLS connection to Redis failed: {}.", openssl_reason()));
    }
    POSTRIDER_CHECK(state_->flush(limits.deadline));  // Answers to a key update.
    POSTRIDER_TRY(const bool filled, state_->fill(limits));
    if (!filled) {
      return 0;
    }
  }
}

}  // namespace postrider::redis
