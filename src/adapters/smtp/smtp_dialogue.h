// Follows the commands and replies of one SMTP session, so that a failure can be judged and
// explained by what the server said. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postrider::smtp {

struct Reply {
  std::uint16_t code = 0;
  std::string text;  // The last line, with its code. At most reply_length_max printable characters.

  bool operator==(const Reply&) const = default;
};

constexpr std::size_t reply_length_max = 300;

class Dialogue {
 public:
  /// What the client sends. Nothing of it is kept: it may be a password.
  void sent(std::string_view bytes);
  /// What the server sends; any part of its lines.
  void received(std::string_view bytes);

  /// The last reply, if it refused something.
  [[nodiscard]] std::optional<Reply> refusal() const;

  /// Whether the last command was about the mail: its sender, its recipient or its content. Before
  /// that the server refuses this client, which says nothing about the mail.
  [[nodiscard]] bool is_about_mail() const { return about_mail_; }

 private:
  void end_line();

  bool about_mail_ = false;
  bool over_ = false;  // The client has said QUIT.
  std::string line_;
  std::optional<Reply> last_;
};

}  // namespace postrider::smtp
