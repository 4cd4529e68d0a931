#include "adapters/smtp/smtp_dialogue.h"

#include <algorithm>
#include <utility>

namespace postrider::smtp {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// The server may send anything; the text is logged and shown.
std::string printable(std::string_view text) {
  std::string shown{text.substr(0, reply_length_max)};
  std::ranges::replace_if(shown, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return shown;
}

}  // namespace

void Dialogue::sent(std::string_view bytes) {
  if (bytes.starts_with("QUIT")) {
    over_ = true;  // What follows is politeness.
  }
  if (over_) {
    return;
  }
  about_mail_ =
      bytes.starts_with("MAIL FROM:") || bytes.starts_with("RCPT TO:") || bytes == "DATA\r\n";
}

void Dialogue::received(std::string_view bytes) {
  for (const char letter : over_ ? std::string_view{} : bytes) {
    if (letter == '\n') {
      end_line();
    } else if (line_.size() < 2 * reply_length_max) {
      line_ += letter;
    }
  }
}

void Dialogue::end_line() {
  std::string line = std::exchange(line_, {});
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  const bool has_code = line.size() >= 3 && std::all_of(line.begin(), line.begin() + 3, is_digit);
  if (!has_code || (line.size() > 3 && line[3] == '-')) {
    return;  // Not the last line of a reply.
  }
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  last_ = Reply{.code = static_cast<std::uint16_t>(code), .text = printable(line)};
}

std::optional<Reply> Dialogue::refusal() const {
  return last_ && last_->code >= 400 ? last_ : std::nullopt;
}

}  // namespace postrider::smtp
