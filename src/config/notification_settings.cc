// The mail server of notification channels, and the texts of their messages.
#include <algorithm>

#include "core/base/enum_names.h"
#include "core/model/email_address.h"

#include "config/channel_settings.h"
#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr EnumNames<SmtpSecurity, SmtpSecurity::none> security_names{{"starttls", "tls", "none"}};

bool is_host(const std::string& text) {
  return text.size() <= 253 && std::ranges::all_of(text, [](char each) {
           return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                  (each >= '0' && each <= '9') || each == '-' || each == '.' || each == ':';
         });
}

bool is_visible(const std::string& text) {
  return text.size() <= 256 && std::ranges::all_of(text, [](char each) {
           return static_cast<unsigned char>(each) >= 0x20 && each != 0x7f;
         });
}

TextRule path_rule() {
  return {.rule = "must be a path of at most 4096 characters",
          .fits = [](const std::string& given) { return given.size() <= 4096; }};
}

}  // namespace

std::vector<Setting> notification_settings() {
  std::vector<Setting> all;
  all.push_back(text({"notifications.templates",
                      "A directory whose files replace the texts of messages; empty: none."},
                     POSTRIDER_FIELD(notifications.templates), path_rule()));
  all.push_back(text({"smtp.server",
                      "The mail server for notification channels of kind email; empty: no e-mail "
                      "is sent."},
                     POSTRIDER_FIELD(smtp.server),
                     {.rule = "must be a host name or an address", .fits = is_host}));
  all.push_back(integer({"smtp.port", "The port of the mail server."}, POSTRIDER_FIELD(smtp.port),
                        {1, 65'535}));
  all.push_back(choice({"smtp.security",
                        "starttls: the connection is encrypted before anything is sent, and "
                        "refused if the server cannot. tls: it is encrypted from the start. none: "
                        "it is not encrypted."},
                       POSTRIDER_FIELD(smtp.security),
                       Words{"starttls, tls, none", parse_smtp_security}));
  all.push_back(text(
      {"smtp.user", "The name to sign in with; empty: without signing in."},
      POSTRIDER_FIELD(smtp.user),
      {.rule = "must be at most 256 characters without control characters", .fits = is_visible}));
  all.push_back(text({"smtp.password_file", "The file that contains the password."},
                     POSTRIDER_FIELD(smtp.password_file), path_rule()));
  all.push_back(text({"smtp.password_env",
                      "The environment variable that contains the password, instead of "
                      "smtp.password_file."},
                     POSTRIDER_FIELD(smtp.password_env)));
  all.push_back(text({"smtp.ca_file",
                      "A PEM file with the certificate authorities to trust; empty: those of the "
                      "system."},
                     POSTRIDER_FIELD(smtp.ca_file), path_rule()));
  all.push_back(text({"smtp.from", "The sender of messages."}, POSTRIDER_FIELD(smtp.from),
                     {.rule = "must be " + std::string{email_address_rule},
                      .fits = [](const std::string& given) { return is_email_address(given); }}));
  all.push_back(integer({"smtp.timeout_ms",
                         "How long sending one message may take, from connecting to the server's "
                         "answer."},
                        POSTRIDER_FIELD(smtp.timeout), {1'000, 600'000}));
  return all;
}

std::string_view to_string(SmtpSecurity security) { return security_names.name(security); }

std::optional<SmtpSecurity> parse_smtp_security(std::string_view text) {
  return security_names.find(text);
}

}  // namespace postrider::config
