#include "api/http/tls_identity.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

namespace postrider::api {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

tl::unexpected<Error> refuse(const std::string& file, const error_code& error) {
  return fail(Errc::invalid, fmt::format("Cannot use {}: {}.", file, error.message()));
}

}  // namespace

Result<TlsIdentity> load_tls_identity(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::single_dh_use, error);
  if (!error && SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION) != 1) {
    return fail(Errc::unavailable, "This OpenSSL library does not support TLS 1.2.");
  }
  context->use_certificate_chain_file(files.certificate, error);
  if (error) {
    return refuse(files.certificate, error);
  }
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) {
    return refuse(files.key, error);
  }
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return fail(Errc::invalid,
                fmt::format("The private key in {} does not match the certificate in {}.",
                            files.key, files.certificate));
  }
  return context;
}

}  // namespace postrider::api
