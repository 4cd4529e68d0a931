#include "adapters/amqp/amqp_tls.h"

#include <array>

#include <amqp_ssl_socket.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace postrider::amqp {
namespace {

int note_problem(int accepted, X509_STORE_CTX* check) {
  if (accepted != 1) {
    const auto* const tls =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* const verdict = static_cast<TlsVerdict*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls)));
    verdict->certificate_problem = X509_verify_cert_error_string(X509_STORE_CTX_get_error(check));
  }
  return accepted;
}

}  // namespace

Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t state, const Address& address,
                                       const std::string& ca_file, TlsVerdict& verdict) {
  amqp_socket_t* const socket = amqp_ssl_socket_new(state);
  if (socket == nullptr) {
    return fail(Errc::unavailable, "OpenSSL could not create a TLS connection.");
  }
  auto* const context = static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket));
  const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                     : SSL_CTX_load_verify_file(context, ca_file.c_str());
  if (loaded != 1) {
    return fail(Errc::unavailable,
                fmt::format("The certificates in {} cannot be read.",
                            ca_file.empty() ? "the system's directory" : ca_file));
  }
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_app_data(context, &verdict);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_problem);
  X509_VERIFY_PARAM* const expected = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, address.host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(expected, address.host.c_str(), address.host.size());
  }
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 0);
  return socket;
}

std::string tls_problem(const TlsVerdict& verdict) {
  if (!verdict.certificate_problem.empty()) {
    return fmt::format("the certificate is not accepted ({})", verdict.certificate_problem);
  }
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) {
    return {};
  }
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace postrider::amqp
