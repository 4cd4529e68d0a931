// `postrider webhooks rotate-secret`: a new secret, the old one beside it for a while.
#include <memory>
#include <optional>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "cli/json_text.h"
#include "cli/webhook_commands.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t grace_seconds_max = 7 * 24 * 3600;

struct RotateFlags {
  std::string id;
  std::optional<std::uint32_t> grace_seconds;
};

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
                        fields_text);
  };
  CLI::App& app = group.add("rotate-secret", "Make a new secret and show it", run);
  app.add_option("ID", flags->id, "The webhook")->required();
  app.add_option("--grace", flags->grace_seconds,
                 "How long the old secret keeps signing beside it (a day unless told)")
      ->option_text("SECONDS")
      ->check(CLI::Range(grace_seconds_max));
}

}  // namespace postrider::cli
