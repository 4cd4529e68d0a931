// The flags of `postrider listen`.
#include <utility>

#include <fmt/format.h>

#include "api/http/listen_address.h"
#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t delay_ms_max = 600'000;
constexpr std::uint32_t tolerance_seconds_max = 365 * 24 * 3600;

constexpr const char* examples = R"(Examples:
  postrider listen --secret whsec_plJ3nmyCDGBKInavdOK15jsl
      Prints each webhook and the result of its signature check. An invalid signature is
      answered 401.
  postrider listen --port 9000 --status 503 --count 3
      Answers three webhooks with 503, then exits.
  postrider listen --delay 250 --fail-rate 0.2 --json
      Simulates a slow and unreliable receiver. Prints one JSON line per webhook.

Environment:
  POSTRIDER_SECRET   the secret, if there is no --secret)";

class ListenArguments final : public Subcommand {
 public:
  explicit ListenArguments(Syntax syntax) {
    syntax.footer(examples);
    const Option listen =
        syntax.option("--listen ADDR:PORT", options_.listen_address, "Address to listen on")
            .show_default();
    syntax.option("--port PORT", port_, "Port to listen on at 127.0.0.1; 0 picks a free port")
        .range(0, 65'535)
        .excludes(listen);
    syntax.option("--secret SECRET", secrets_,
                  "Secret of the webhook; may be repeated. Without it, signatures are not checked");
    syntax
        .option("--tolerance SECONDS", tolerance_seconds_,
                "Largest difference between the signed time and now")
        .at_most(tolerance_seconds_max)
        .show_default();
    syntax.option("--path PATH", options_.paths, "Answer only this path; may be repeated");
    syntax.option("--status CODE", options_.status, "HTTP status of the response")
        .range(200, 599)
        .show_default();
    syntax.option("--delay MS", delay_ms_, "Delay before each response")
        .at_most(delay_ms_max)
        .show_default();
    syntax.option("--fail-rate 0..1", options_.fail_rate, "Fraction of webhooks to answer with 500")
        .range(0.0, 1.0)
        .show_default();
    syntax.option("--count N", options_.count, "Exit after this many webhooks; 0: never");
    syntax.flag("--json", options_.json, "Print one JSON line per webhook");
  }

  Result<Command> finish(const Environment& environment) override {
    if (port_) {
      options_.listen_address = fmt::format("127.0.0.1:{}", *port_);
    }
    POSTRIDER_CHECK(api::parse_listen_address(options_.listen_address));
    if (secrets_.empty()) {
      if (std::optional<std::string> secret = environment("POSTRIDER_SECRET")) {
        secrets_.push_back(*std::move(secret));
      }
    }
    for (const std::string& text : secrets_) {
      if (text.empty()) {
        return fail(Errc::invalid, "--secret must not be empty.");
      }
      options_.secrets.emplace_back(text);
    }
    for (const std::string& path : options_.paths) {
      if (!path.starts_with('/')) {
        return fail(Errc::invalid, fmt::format("--path must start with a slash, not `{}`.", path));
      }
    }
    options_.tolerance = std::chrono::seconds{tolerance_seconds_};
    options_.delay = std::chrono::milliseconds{delay_ms_};
    return Command{options_};
  }

 private:
  ListenOptions options_;
  std::optional<std::uint16_t> port_;
  std::vector<std::string> secrets_;
  std::uint32_t tolerance_seconds_ = 300;
  std::uint32_t delay_ms_ = 0;
};

}  // namespace

std::unique_ptr<Subcommand> add_listen(Syntax root) {
  return std::make_unique<ListenArguments>(
      root.command("listen", "Receive webhooks, check their signatures and print them"));
}

}  // namespace postrider::cli
