#include <utility>

#include <fmt/format.h>

#include "core/request/signature.h"

#include "api/http/listen_address.h"
#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t delay_ms_max = 600'000;
constexpr std::uint32_t tolerance_seconds_max = 365 * 24 * 3600;

constexpr const char* examples = R"(Examples:
  postrider listen --secret whsec_plJ3nmyCDGBKInavdOK15jsl
      Prints each webhook and whether its signature is right. A wrong one is answered 401.
  postrider listen --port 9000 --status 503 --count 3
      Refuses three webhooks, then ends.
  postrider listen --delay 250 --fail-rate 0.2 --json
      A slow and unreliable receiver, one JSON line for each webhook.

Environment:
  POSTRIDER_SECRET   a secret, instead of --secret)";

// More tolerant than parse_secret: who checks a signature has to take the secret that made it.
Result<Secret<std::string>> read_secret(std::string_view text) {
  constexpr std::string_view prefix = "whsec_";
  const std::optional<std::string> key = text.starts_with(prefix)
                                             ? from_base64(text.substr(prefix.size()))
                                             : std::optional<std::string>{text};
  if (!key || key->empty()) {
    return fail(Errc::invalid,
                "A secret is whsec_ and base64, or any other text that is not empty.");
  }
  return Secret<std::string>{*key};
}

class ListenArguments final : public Subcommand {
 public:
  explicit ListenArguments(Syntax syntax) {
    syntax.footer(examples);
    const Option listen =
        syntax.option("--listen ADDR:PORT", options_.listen_address, "Where to listen")
            .show_default();
    syntax.option("--port PORT", port_, "The same on 127.0.0.1; 0 picks a free one")
        .range(0, 65'535)
        .excludes(listen);
    syntax.option(
        "--secret SECRET", secrets_,
        "The webhook's secret; several are tried in turn. None: signatures are not checked");
    syntax.option("--tolerance SECONDS", tolerance_seconds_, "How far a signed time may be off")
        .at_most(tolerance_seconds_max)
        .show_default();
    syntax.option("--path PATH", options_.paths,
                  "Answer only this path; may be given several times");
    syntax.option("--status CODE", options_.status, "Answer with this HTTP status")
        .range(200, 599)
        .show_default();
    syntax.option("--delay MS", delay_ms_, "Wait before answering")
        .at_most(delay_ms_max)
        .show_default();
    syntax.option("--fail-rate 0..1", options_.fail_rate, "Answer this share of webhooks with 500")
        .range(0.0, 1.0)
        .show_default();
    syntax.option("--count N", options_.count, "End after this many webhooks; 0: never");
    syntax.flag("--json", options_.json, "Print one JSON line for each webhook");
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
      POSTRIDER_TRY(Secret<std::string> secret, read_secret(text));
      options_.secrets.push_back(std::move(secret));
    }
    for (const std::string& path : options_.paths) {
      if (!path.starts_with('/')) {
        return fail(Errc::invalid,
                    fmt::format("--path must start with a slash; `{}` does not.", path));
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
  return std::make_unique<ListenArguments>(root.command(
      "listen", "Receive webhooks on this machine, check their signatures and print them"));
}

}  // namespace postrider::cli
