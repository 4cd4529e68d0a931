// `postrider webhooks rotate-secret`: a new secret, the old one beside it for a while.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands/webhook_commands.h"
#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t grace_seconds_max = 7 * 24 * 3600;

struct RotateFlags {
  std::string id;
  std::optional<std::uint32_t> grace_seconds;
};

/// The new secret, and how long a receiver may take to learn of it.
std::string rotation_text(const json::value& answer) {
  std::string text = fields_text(answer);
  const json::value* const old = member(answer, "old_secrets");
  if (old != nullptr && old->is_array()) {
    for (const json::value& secret : old->get_array()) {
      text += fmt::format("An old secret also signs until {}.\n", text_at(secret, "ends_at"));
    }
  }
  return text;
}

}  // namespace

void add_webhook_rotate(Group& group) {
  const auto flags = std::make_shared<RotateFlags>();
  const auto run = [flags](const Session& session) {
    json::object body;
    if (flags->grace_seconds) {
      body["grace_period_seconds"] = *flags->grace_seconds;
    }
    return session.show({.method = "POST",
                         .path = "/v1/webhooks/" + path_part(flags->id) + "/secret/rotate",
                         .body = json::value(std::move(body))},
                        rotation_text);
  };
  Syntax syntax = group.add("rotate-secret", "Make a new secret and show it", run);
  syntax.argument("ID", flags->id, "The webhook");
  syntax
      .option("--grace SECONDS", flags->grace_seconds,
              "How long the old secret keeps signing beside it (a day unless told)")
      .at_most(grace_seconds_max);
}

}  // namespace postrider::cli
