// `postrider webhooks rotate-secret`: makes a new secret; the old one stays valid for a grace
// period.
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
  std::optional<std::string> secret;
  std::optional<std::uint32_t> grace_seconds;
};

/// Formats the new secret and the end of each grace period.
std::string rotation_text(const json::value& answer) {
  std::string text = fields_text(answer);
  const json::value* const old = member(answer, "old_secrets");
  if (old != nullptr && old->is_array()) {
    for (const json::value& secret : old->get_array()) {
      text += fmt::format("An old secret signs as well until {}.\n", text_at(secret, "ends_at"));
    }
  }
  return text;
}

}  // namespace

void add_webhook_rotate(Group& group) {
  const auto flags = std::make_shared<RotateFlags>();
  const auto run = [flags](const Session& session) {
    json::object body;
    if (flags->secret) {
      body["secret"] = *flags->secret;
    }
    if (flags->grace_seconds) {
      body["grace_period_seconds"] = *flags->grace_seconds;
    }
    return session.show({.method = "POST",
                         .path = "/v1/webhooks/" + path_part(flags->id) + "/secret/rotate",
                         .body = json::value(std::move(body))},
                        rotation_text);
  };
  Syntax syntax =
      group.add("rotate-secret", "Replace the secret of a webhook and show the new one", run);
  syntax.argument("ID", flags->id, "Id of the webhook");
  syntax.option("--secret SECRET", flags->secret, "New secret, instead of a generated one");
  syntax
      .option("--grace SECONDS", flags->grace_seconds,
              "Grace period in which the old secret signs as well (default one day)")
      .at_most(grace_seconds_max);
}

}  // namespace postrider::cli
