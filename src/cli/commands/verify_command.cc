// `postrider verify`: verifies the signature of a saved request. Does not need a server.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <postrider/verify.h>

#include "core/base/time.h"
#include "core/request/signature.h"

#include "cli/commands/command_line.h"
#include "cli/commands/group.h"
#include "cli/text/input.h"
#include "cli/text/print.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t tolerance_seconds_max = 365 * 24 * 3600;

constexpr const char* examples = R"(Examples:
  postrider verify --secret whsec_... --body request.json \
      --header 'webhook-id: evt_01jx...' --header 'webhook-timestamp: 1731705121' \
      --header 'webhook-signature: v1,rAvfW3dJ...' --at 2024-11-15T21:12:01Z
  postrider verify --scheme sha256-body --secret ... --body - --header @headers.txt <request.json

Environment:
  POSTRIDER_SECRET   the secret, if there is no --secret)";

struct VerifyFlags {
  std::vector<std::string> secrets;
  std::vector<std::string> headers;
  std::string scheme = "standard";
  std::string header_prefix = "X-Webhook-";
  std::string body;
  std::optional<std::string> at;
  std::uint32_t tolerance_seconds = 300;
  bool json = false;
};

constexpr std::string_view code_of(verify::Outcome outcome) {
  constexpr std::array<std::string_view, 7> codes = {
      "valid",           "no_usable_key",     "missing_header",   "malformed_header",
      "wrong_signature", "timestamp_too_old", "timestamp_too_new"};
  return codes.at(static_cast<std::size_t>(outcome));
}

Result<void> add_header(verify::Headers& headers, std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return fail(Errc::invalid,
                "--header requires a name, a colon and a value: 'webhook-id: evt_1'.");
  }
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  value = value.substr(0, value.find_last_not_of(" \t\r") + 1);
  headers.emplace_back(line.substr(0, colon), value);
  return {};
}

Result<void> add_headers(verify::Headers& headers, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      POSTRIDER_CHECK(add_header(headers, line));
    }
  }
  return {};
}

/// Each argument is `NAME: VALUE`, or `@FILE` with one header per line.
Result<verify::Headers> read_headers(const std::vector<std::string>& arguments) {
  verify::Headers headers;
  for (const std::string& argument : arguments) {
    POSTRIDER_TRY(const std::string text, read_argument(argument));
    POSTRIDER_CHECK(add_headers(headers, text));
  }
  return headers;
}

Result<verify::Outcome> judge(const VerifyFlags& flags, WallTime now) {
  POSTRIDER_TRY(const verify::Headers headers, read_headers(flags.headers));
  POSTRIDER_TRY(const std::string body, read_input(flags.body));
  if (flags.at) {
    const std::optional<WallTime> at = parse_time_argument(*flags.at, now);
    if (!at) {
      return fail(
          Errc::invalid,
          fmt::format(
              "--at: `{}` is not a valid time. Use RFC 3339, for example 2026-01-31T10:00:00Z, "
              "or a duration before now: 90s, 15m, 2h, 7d.",
              *flags.at));
    }
    now = *at;
  }
  verify::Options options;
  options.keys = flags.secrets;
  // The parser has checked the name. Both enumerations list the schemes in the same order.
  options.scheme = static_cast<verify::Scheme>(*parse_signature_scheme(flags.scheme));
  options.tolerance = std::chrono::seconds{flags.tolerance_seconds};
  options.header_prefix = flags.header_prefix;
  return verify::Verifier{std::move(options)}.check(headers, body, to_unix_seconds(now));
}

int run_verify(const VerifyFlags& flags, WallTime now) {
  const Result<verify::Outcome> outcome = judge(flags, now);
  if (!outcome) {
    return report(tl::make_unexpected(outcome.error()));
  }
  const bool valid = *outcome == verify::Outcome::valid;
  print(flags.json ? fmt::format("{{\"valid\":{},\"outcome\":\"{}\"}}\n", valid, code_of(*outcome))
                   : fmt::format("{}\n", verify::explain(*outcome)));
  return valid ? exit_ok : exit_failed;
}

class VerifyArguments final : public Subcommand {
 public:
  explicit VerifyArguments(Syntax syntax) {
    syntax.footer(examples);
    syntax.option("--secret SECRET", flags_.secrets,
                  "Secret of the webhook, or its public key (whpk_...); may be repeated");
    syntax.option("--scheme SCHEME", flags_.scheme, "Signature scheme")
        .one_of({"standard", "standard-ed25519", "t-v1", "sha256-timestamp", "sha256-body"})
        .show_default();
    syntax.option("--header 'NAME: VALUE'", flags_.headers,
                  "A header, or @FILE with one header per line; may be repeated");
    syntax
        .option("--header-prefix PREFIX", flags_.header_prefix,
                "Prefix of the headers, for schemes that are not standard")
        .show_default();
    syntax.option("--body FILE", flags_.body, "File with the unchanged body; - for standard input")
        .required();
    syntax.option("--at TIME", flags_.at, "Time at which the request was received (default now)");
    syntax
        .option("--tolerance SECONDS", flags_.tolerance_seconds,
                "Largest difference between the signed time and --at")
        .at_most(tolerance_seconds_max)
        .show_default();
    syntax.flag("--json", flags_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& environment) override {
    if (flags_.secrets.empty()) {
      const std::optional<std::string> secret = environment("POSTRIDER_SECRET");
      if (!secret) {
        return fail(Errc::invalid, "--secret or POSTRIDER_SECRET is required.");
      }
      flags_.secrets.push_back(*secret);
    }
    return Command{Task{[flags = flags_](const Ports& ports) {
      return run_verify(flags, ports.clock.now().wall);
    }}};
  }

 private:
  VerifyFlags flags_;
};

}  // namespace

std::unique_ptr<Subcommand> add_verify(Syntax root) {
  return std::make_unique<VerifyArguments>(
      root.command("verify", "Verify the signature of a saved request"));
}

}  // namespace postrider::cli
