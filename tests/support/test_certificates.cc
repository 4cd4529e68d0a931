#include "tests/support/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/assert.h"

namespace postrider::test {
namespace {

std::shared_ptr<EVP_PKEY> make_key(unsigned rsa_bits = 0) {
  EVP_PKEY* key = rsa_bits != 0 ? EVP_RSA_gen(rsa_bits) : EVP_EC_gen("P-256");
  POSTRIDER_ASSERT(key != nullptr);
  return {key, EVP_PKEY_free};
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  POSTRIDER_ASSERT(extension != nullptr);
  POSTRIDER_ASSERT(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

long seconds(std::chrono::hours hours) { return std::chrono::seconds{hours}.count(); }

/// Returns an unsigned certificate. `issuer` is null for a self-signed one.
std::shared_ptr<X509> make_certificate(const CertificateSpec& spec, EVP_PKEY* key, X509* issuer) {
  static long serial = 1;
  const std::shared_ptr<X509> certificate{X509_new(), X509_free};
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), seconds(spec.valid_from));
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds(spec.valid_until));
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(spec.common_name.c_str()), -1,
                             -1, 0);
  X509* signer = issuer == nullptr ? certificate.get() : issuer;
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  if (!spec.alternative_names.empty()) {
    add_extension(certificate.get(), signer, NID_subject_alt_name, spec.alternative_names);
  }
  return certificate;
}

void sign(X509* certificate, EVP_PKEY* key) {
  POSTRIDER_ASSERT(X509_sign(certificate, key, EVP_sha256()) > 0);
}

}  // namespace

TestCertificate self_signed(const CertificateSpec& spec) {
  TestCertificate made{nullptr, make_key(spec.rsa_bits)};
  made.certificate = make_certificate(spec, made.key.get(), nullptr);
  sign(made.certificate.get(), made.key.get());
  return made;
}

TestAuthority::TestAuthority(std::string name) {
  root_.key = make_key();
  root_.certificate = make_certificate({.common_name = std::move(name), .alternative_names = ""},
                                       root_.key.get(), nullptr);
  X509* certificate = root_.certificate.get();
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  sign(certificate, root_.key.get());
}

std::string TestAuthority::pem() const {
  const std::shared_ptr<BIO> memory{BIO_new(BIO_s_mem()), BIO_free};
  POSTRIDER_ASSERT(PEM_write_bio_X509(memory.get(), root_.certificate.get()) == 1);
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

TestCertificate TestAuthority::issue(const CertificateSpec& spec) const {
  TestCertificate made{nullptr, make_key(spec.rsa_bits)};
  made.certificate = make_certificate(spec, made.key.get(), root_.certificate.get());
  sign(made.certificate.get(), root_.key.get());
  return made;
}

std::shared_ptr<SSL_CTX> tls_server(const TestCertificate& certificate, const TlsServerSpec& spec) {
  const std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
  POSTRIDER_ASSERT(context != nullptr);
  if (spec.allow_weak_keys) {
    SSL_CTX_set_security_level(context.get(), 0);
  }
  POSTRIDER_ASSERT(SSL_CTX_use_certificate(context.get(), certificate.certificate.get()) == 1);
  POSTRIDER_ASSERT(SSL_CTX_use_PrivateKey(context.get(), certificate.key.get()) == 1);
  constexpr unsigned char session_context[] = "test";
  SSL_CTX_set_session_id_context(context.get(), session_context, sizeof session_context);
  if (spec.version_max != 0) {
    // OpenSSL offers old versions only at the lowest security level.
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), spec.version_max);
  }
  if (spec.require_client_certificate) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  for (int copy = 0; copy < spec.certificate_copies; ++copy) {
    SSL_CTX_add1_chain_cert(context.get(), certificate.certificate.get());
  }
  return context;
}

}  // namespace postrider::test
