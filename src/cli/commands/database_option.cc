#include "cli/commands/database_option.h"

#include <fmt/format.h>

#include "config/source_address.h"

namespace postrider::cli {

void add_database(Syntax syntax, std::optional<std::string>& address) {
  syntax.option("--store ADDRESS", address,
                "PostgreSQL database, postgres://user@host/name, in place of the data directory; "
                "overrides POSTRIDER_STORE");
}

Result<Secret<std::string>> choose_database(const std::optional<std::string>& flag,
                                            const Environment& environment) {
  constexpr auto kind = config::SourceKind::outbox;
  const std::string address = flag ? *flag : environment("POSTRIDER_STORE").value_or("");
  if (!address.empty() && !config::is_source_address(kind, address)) {
    return fail(Errc::invalid,
                fmt::format("{} must be empty or an address with {}.",
                            flag ? "--store" : "POSTRIDER_STORE", config::schemes_of(kind)));
  }
  return Secret{address};
}

}  // namespace postrider::cli
