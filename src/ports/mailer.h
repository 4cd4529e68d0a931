// Sends e-mails. The specification is the tests of adapters/smtp against a real server.
#pragma once

#include <cstdint>
#include <string>

#include "core/notify/mail.h"

namespace postrider {

enum class MailVerdict : std::uint8_t {
  accepted,
  refused,      ///< For good: the same mail will never be accepted.
  postponed,    ///< The server refuses this mail now, but may accept it later.
  unreachable,  ///< The server cannot be used, for this mail or any other.
};

struct MailOutcome {
  MailVerdict verdict = MailVerdict::accepted;
  std::string reason = {};  // A sentence without its full stop, for the operator.
  std::uint16_t code = 0;   // The server's reply; 0: none.

  bool operator==(const MailOutcome&) const = default;
};

/// One thread, except for stop().
class Mailer {
 public:
  virtual ~Mailer() = default;

  /// Hands the mail to the server. Blocks for at most the configured timeout.
  [[nodiscard]] virtual MailOutcome send(const Mail& mail) = 0;

  /// Any thread. Ends a send within about a second with `unreachable`, as are later ones.
  virtual void stop() = 0;

 protected:
  Mailer() = default;
  Mailer(const Mailer&) = default;
  Mailer& operator=(const Mailer&) = default;
};

}  // namespace postrider
