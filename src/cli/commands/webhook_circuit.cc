// `postrider webhooks circuit`: resets the circuit of a webhook, or forces it open or closed.
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands/webhook_commands.h"
#include "cli/text/json_text.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

struct CircuitFlags {
  std::string id;
  std::string action;
  std::optional<std::string> duration;
};

Result<json::value> body_of(const CircuitFlags& flags) {
  std::string action = flags.action;
  std::ranges::replace(action, '-', '_');
  json::object body{{"action", action}};
  if (flags.duration) {
    POSTRIDER_TRY(const std::chrono::seconds duration, duration_argument("--for", *flags.duration));
    body["duration_seconds"] = duration.count();
  }
  return json::value(std::move(body));
}

}  // namespace

void add_webhook_circuit(Group& group) {
  const auto flags = std::make_shared<CircuitFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    return session.show({.method = "PATCH",
                         .path = "/v1/webhooks/" + path_part(flags->id) + "/circuit-breaker",
                         .body = std::move(body)},
                        fields_text);
  };
  Syntax syntax =
      group.add("circuit", "Reset the circuit of a webhook, or force it open or closed", run);
  syntax.argument("ID", flags->id, "Id of the webhook");
  syntax.argument("ACTION", flags->action, "reset, force-open or force-close")
      .one_of({"reset", "force-open", "force-close"});
  syntax.option("--for DURATION", flags->duration,
                "How long to force it, such as 15m or 2h (default: until it is reset)");
}

}  // namespace postrider::cli
