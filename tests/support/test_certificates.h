// Generates valid and invalid certificates, and TLS server contexts that present them.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <openssl/ssl.h>

namespace postrider::test {

struct CertificateSpec {
  std::string common_name = "receiver";
  std::string alternative_names =
      "DNS:receiver.test,IP:127.0.0.1";  // In OpenSSL's syntax. May be empty.
  std::chrono::hours valid_from{-1};     // Relative to now.
  std::chrono::hours valid_until{24};
  unsigned rsa_bits = 0;  // 0: an elliptic curve key, which is faster to generate.
};

struct TestCertificate {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

/// A self-signed certificate.
[[nodiscard]] TestCertificate self_signed(const CertificateSpec& spec);

/// A certificate authority with its own key.
class TestAuthority {
 public:
  explicit TestAuthority(std::string name = "Test Authority");
  [[nodiscard]] std::string pem() const;
  [[nodiscard]] TestCertificate issue(const CertificateSpec& spec) const;

 private:
  TestCertificate root_;
};

struct TlsServerSpec {
  int version_max = 0;  // 0: the newest.
  bool allow_weak_keys = false;
  bool require_client_certificate = false;
  int certificate_copies = 0;  // Added to the chain to make it large.
};

[[nodiscard]] std::shared_ptr<SSL_CTX> tls_server(const TestCertificate& certificate,
                                                  const TlsServerSpec& spec = {});

}  // namespace postrider::test
