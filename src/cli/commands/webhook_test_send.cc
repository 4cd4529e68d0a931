// `postrider webhooks test`: sends a test event and shows the attempt.
#include <memory>
#include <optional>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/commands/webhook_commands.h"
#include "cli/text/input.h"
#include "cli/text/json_text.h"
#include "cli/text/print.h"

namespace postrider::cli {
namespace {

struct TestFlags {
  std::string id;
  std::optional<std::string> type;
  std::optional<std::string> data;
};

Result<json::value> body_of(const TestFlags& flags) {
  json::object body;
  if (flags.type) {
    body["event_type"] = *flags.type;
  }
  if (flags.data) {
    POSTRIDER_TRY(const std::string text, read_argument(*flags.data));
    boost::system::error_code error;
    body["data"] = json::parse(text, error);
    if (error) {
      return fail(Errc::invalid, "--data is not JSON.");
    }
  }
  return json::value(std::move(body));
}

}  // namespace

void add_webhook_test(Group& group) {
  const auto flags = std::make_shared<TestFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    POSTRIDER_TRY(const json::value answer,
                  session.call({.method = "POST",
                                .path = "/v1/webhooks/" + path_part(flags->id) + "/test",
                                .body = std::move(body)}));
    print(session.json() ? json::serialize(answer) + "\n" : fields_text(answer));
    if (text_at(answer, "attempt.status") == "failed") {
      return fail(Errc::conflict, "The attempt failed; its fields show the reason.");
    }
    return {};
  };
  Syntax syntax = group.add("test", "Send a test event to a webhook and show the attempt", run);
  syntax.argument("ID", flags->id, "Id of the webhook");
  syntax.option("--type TYPE", flags->type, "Type of the event");
  syntax.option("--data JSON", flags->data,
                "Data of the event: JSON, @FILE, or - for standard input");
}

}  // namespace postrider::cli
