// Servers that share one PostgreSQL database.
#include <algorithm>

#include "core/net/header_rules.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

// There are three turns per lease, and each may take a while on a busy database.
constexpr Range lease_range{2'000, 300'000};

/// Metrics call the pool without a name `default`.
bool is_pool(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"._:@-"}.find(c) != std::string_view::npos;
  };
  return text.size() <= 64 && text != "default" && text != "." && text != ".." &&
         std::ranges::all_of(text, fits);
}

bool is_shown_address(const std::string& text) {
  return text.size() <= 256 && is_header_value(text);
}

}  // namespace

std::vector<Setting> cluster_settings() {
  std::vector<Setting> all;
  all.push_back(integer({"cluster.lease_ms",
                         "How long other servers on the database wait for a server that has "
                         "crashed before they take over its webhooks. The same on all servers. "
                         "Requires store, as all settings of [cluster] do."},
                        POSTRIDER_FIELD(cluster.lease), lease_range));
  all.push_back(text({"cluster.pool",
                      "The worker pool of this server: it works the webhooks of the tenants that "
                      "are bound to the pool; empty: the default pool, which works all others."},
                     POSTRIDER_FIELD(cluster.pool),
                     {"must be empty or at most 64 letters, digits and any of ._:@-, and not "
                      "`default`",
                      is_pool}));
  all.push_back(text({"cluster.address",
                      "How this server is shown to operators, such as hooks-1.example.com:8080; "
                      "empty: its host name and the address that it listens on."},
                     POSTRIDER_FIELD(cluster.address),
                     {"must be at most 256 visible ASCII characters", is_shown_address}));
  return all;
}

}  // namespace postrider::config
