// Sends e-mails through an SMTP server, with libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/mailer.h"

namespace postrider {

enum class SmtpSecurity : std::uint8_t {
  starttls,  ///< Fails if the server does not offer STARTTLS.
  tls,       ///< TLS from the first byte.
  none,
};

struct SmtpOptions {
  std::string server;
  std::uint16_t port = 587;
  SmtpSecurity security = SmtpSecurity::starttls;
  std::string ca_file;  // PEM; empty: the system's authorities.
  std::string user;     // Empty: no login.
  /// Called for each mail, so that a file can be replaced. Empty: no password.
  std::function<Result<Secret<std::string>>()> password;
  Millis timeout{30'000};  // Of one mail, from the first byte to the last.
};

[[nodiscard]] std::unique_ptr<Mailer> make_smtp_mailer(SmtpOptions options);

}  // namespace postrider
