// An e-mail with a text and an HTML part, and its form on the wire (RFC 5322, RFC 2045, RFC 2047).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

struct Mail {
  std::string from;  // `postrider@example.com` or `Postrider <postrider@example.com>`.
  std::string to;    // An address without a name.
  std::string subject;
  std::string text;
  std::string html;
  std::string id;                     // Unique among all mails.
  std::optional<std::string> thread;  // Mails about one thing have the same. Never an `id`.
  WallTime date;

  bool operator==(const Mail&) const = default;
};

/// The address of a mailbox: the part in angle brackets, if there is one.
[[nodiscard]] std::string_view mailbox_address(std::string_view mailbox);

/// The whole message with CRLF line ends. Fields cannot contain line breaks: control characters in
/// them become spaces.
[[nodiscard]] std::string render_mail(const Mail& mail);

/// A header field's value: ASCII text as it is, other text as encoded words.
[[nodiscard]] std::string encode_header_text(std::string_view text);

/// Quoted-printable, with CRLF line ends and lines of at most 76 characters.
[[nodiscard]] std::string encode_quoted_printable(std::string_view text);

/// `Thu, 01 Jan 2026 12:00:00 +0000`.
[[nodiscard]] std::string mail_date(WallTime time);

}  // namespace postrider
