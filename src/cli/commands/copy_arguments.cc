// The flags of `postrider copy`.
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider copy --from sqlite:/var/lib/postrider --to postgres://postrider@db.example/postrider
      Moves everything that a stopped server has stored into an empty database. Run it again if
      it was interrupted: it continues.
  POSTRIDER_STORE=postgres://… postrider copy --from sqlite:/var/lib/postrider
      The same without a password on the command line.
  postrider copy --from sqlite:/var/lib/postrider --verify-only
      Compares a copy with its original, before a server has used the copy.

Environment:
  POSTRIDER_DATA, POSTRIDER_STORE  used without --from and --to
  POSTRIDER_SECRETS_KEY            the key that encrypts stored secrets, if they are encrypted)";

constexpr std::string_view sqlite_prefix = "sqlite:";

class CopyArguments final : public Subcommand {
 public:
  explicit CopyArguments(Syntax syntax) {
    syntax.footer(examples);
    syntax.option("--from sqlite:DIR", from_, "Data directory; overrides POSTRIDER_DATA");
    syntax.option("--to ADDRESS", to_,
                  "PostgreSQL database, postgres://user@host/name; overrides POSTRIDER_STORE");
    syntax.option("--config FILE", options_.config_file, "TOML file with settings of the server");
    syntax.option("--secrets-key-file FILE", key_file_,
                  "Key that encrypts stored secrets, if they are encrypted");
    syntax.flag("--verify-only", options_.verify_only,
                "Compare an earlier copy with its original; change nothing");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& /*environment*/) override {
    if (from_) {
      if (!from_->starts_with(sqlite_prefix) || from_->size() == sqlite_prefix.size()) {
        return fail(Errc::invalid,
                    fmt::format("--from requires sqlite:DIR, for example {}/var/lib/postrider.",
                                sqlite_prefix));
      }
      add("data", from_->substr(sqlite_prefix.size()), "--from");
    }
    if (to_) {
      if (to_->empty()) {
        return fail(Errc::invalid, "--to requires an address of PostgreSQL.");
      }
      add("store", *to_, "--to");
    }
    if (key_file_) {
      add("secrets.key_file", *key_file_, "--secrets-key-file");
    }
    return Command{options_};
  }

 private:
  void add(const char* key, std::string value, const char* flag) {
    options_.overrides.push_back({.key = key, .value = std::move(value), .flag = flag});
  }

  CopyStoreOptions options_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::string> key_file_;
};

}  // namespace

std::unique_ptr<Subcommand> add_copy(Syntax root) {
  return std::make_unique<CopyArguments>(
      root.command("copy", "Copy a data directory into a PostgreSQL database"));
}

}  // namespace postrider::cli
