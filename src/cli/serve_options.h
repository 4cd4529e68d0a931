// What `postrider serve` was asked to do: flags and environment, already checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/secret.h"

namespace postrider::cli {

struct ServeOptions {
  std::string data_directory = "./postrider-data";
  std::string listen_address =
      "127.0.0.1:8080";                // `ADDR:PORT` or `[ADDR6]:PORT`; port 0 picks one.
  bool allow_private_targets = false;  // For development: webhooks on this network.
  bool allow_http = false;             // Webhooks without TLS.
  std::uint32_t io_threads = 0;        // 0: one less than there are cores, at least one.
  std::chrono::milliseconds drain_timeout{30'000};
  std::chrono::milliseconds retention_events = std::chrono::hours{24 * 90};  // Zero: for good.
  std::chrono::milliseconds retention_dead_letters = std::chrono::hours{24 * 30};
  bool shrinking_store = false;                  // A new store gives space back after retention.
  std::string archive_directory;                 // Empty: what is too old is just removed.
  std::string log_level = "info";                // trace, debug, info, warn, error or off.
  std::optional<Secret<std::string>> admin_key;  // POSTRIDER_ADMIN_KEY; otherwise one is made.
  bool json = false;                             // What is printed for people becomes JSON lines.
};

}  // namespace postrider::cli
