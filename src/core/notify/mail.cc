#include "core/notify/mail.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

namespace postrider {
namespace {

// RFC 2045 and RFC 2047.
constexpr std::size_t line_length_max = 76;
constexpr std::size_t encoded_word_bytes_max = 45;  // 60 characters of base64.

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= part.size() ? base64_letters[bits >> (18 - 6 * i) & 63u] : '=';
    }
  }
  return text;
}

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }

bool is_continuation(char letter) { return (static_cast<unsigned char>(letter) & 0xc0u) == 0x80; }

/// A field ends at a line break: text from outside must not begin a new one.
std::string one_line(std::string_view text) {
  std::string line{text};
  for (char& letter : line) {
    if (is_control(letter)) {
      letter = ' ';
    }
  }
  return line;
}

/// `Name <address>` with the name encoded.
std::string encode_mailbox(std::string_view mailbox) {
  std::string line = one_line(mailbox);
  const std::size_t bracket = line.rfind('<');
  if (bracket == std::string::npos || bracket == 0) {
    return line;
  }
  std::string_view name = std::string_view{line}.substr(0, bracket);
  while (name.ends_with(' ')) {
    name.remove_suffix(1);
  }
  return encode_header_text(name) + " " + line.substr(bracket);
}

std::string domain_of(std::string_view mailbox) {
  const std::string address = one_line(mailbox_address(mailbox));
  const std::size_t at = address.rfind('@');
  return at == std::string::npos ? std::string{"localhost"} : address.substr(at + 1);
}

void append_part(std::string& out, std::string_view type, std::string_view content) {
  out += fmt::format(
      "Content-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{}"
      "\r\n",
      type, encode_quoted_printable(content));
}

}  // namespace

std::string_view mailbox_address(std::string_view mailbox) {
  const std::size_t begin = mailbox.rfind('<');
  const std::size_t end = mailbox.rfind('>');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return mailbox;
  }
  return mailbox.substr(begin + 1, end - begin - 1);
}

std::string encode_header_text(std::string_view text) {
  std::string line = one_line(text);
  bool is_plain = !line.starts_with(' ') && line.find("=?") == std::string::npos;
  for (const char letter : line) {
    is_plain = is_plain && static_cast<unsigned char>(letter) < 0x80;
  }
  if (is_plain && line.size() <= line_length_max) {
    return line;
  }
  std::string encoded;
  std::string_view rest = line;
  while (!rest.empty()) {
    std::size_t length = std::min(rest.size(), encoded_word_bytes_max);
    while (length > 1 && length < rest.size() && is_continuation(rest[length])) {
      --length;  // A character must not be split.
    }
    encoded += fmt::format("{}=?utf-8?B?{}?=", encoded.empty() ? "" : "\r\n ",
                           to_base64(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  return encoded;
}

std::string encode_quoted_printable(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  const auto append = [&](std::string_view piece) {
    if (column + piece.size() > line_length_max - 1) {  // One is left for the `=` of a soft break.
      out += "=\r\n";
      column = 0;
    }
    out += piece;
    column += piece.size();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '\r' && text.substr(at + 1).starts_with('\n')) {
      continue;
    }
    if (letter == '\n') {
      out += "\r\n";
      column = 0;
      continue;
    }
    const bool ends_line = at + 1 == text.size() || text[at + 1] == '\n' || text[at + 1] == '\r';
    const bool is_blank = letter == ' ' || letter == '\t';
    const bool is_plain = letter > ' ' && letter < 0x7f && letter != '=';
    // A dot alone on a line ends the message, should a relay forget to double it.
    if ((is_plain && !(letter == '.' && column == 0)) || (is_blank && !ends_line)) {
      append({&text[at], 1});
    } else {
      append(fmt::format("={:02X}", static_cast<unsigned char>(letter)));
    }
  }
  return out;
}

std::string mail_date(WallTime time) {
  using namespace std::chrono;
  constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_time<Millis> moment{std::clamp(time, wall_time_min, wall_time_max).time_since_epoch()};
  const auto day = floor<std::chrono::days>(moment);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(moment - day)};
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000", days[weekday{day}.c_encoding()],
                     static_cast<unsigned>(date.day()),
                     months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string render_mail(const Mail& mail) {
  const std::string domain = domain_of(mail.from);
  const std::string boundary = fmt::format("=_{}", mail.id);  // `=_` is never quoted-printable.
  std::string out =
      fmt::format("From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: {}\r\nMessage-ID: <{}@{}>\r\n",
                  encode_mailbox(mail.from), one_line(mail.to), encode_header_text(mail.subject),
                  mail_date(mail.date), mail.id, domain);
  if (mail.thread) {
    out += fmt::format("In-Reply-To: <{0}@{1}>\r\nReferences: <{0}@{1}>\r\n", *mail.thread, domain);
  }
  // No answers by machines: RFC 3834.
  out += fmt::format(
      "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
      "Content-Type: multipart/alternative; boundary=\"{0}\"\r\n\r\n--{0}\r\n",
      boundary);
  append_part(out, "text/plain", mail.text);
  out += fmt::format("--{}\r\n", boundary);
  append_part(out, "text/html", mail.html);
  return out + fmt::format("--{}--\r\n", boundary);
}

}  // namespace postrider
