// The hash chain of the audit log, shared by all stores. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ports/audit.h"

namespace postrider {

namespace detail {

/// The length prefix ensures that different entries never give the same text.
inline void append_field(std::string& text, std::string_view field) {
  text.append(std::to_string(field.size())).append(":").append(field).append("\n");
}

}  // namespace detail

/// The text that is hashed for the entry at `sequence`. `previous` is the hash of the entry before.
[[nodiscard]] inline std::string chained_text(std::string_view previous, std::int64_t sequence,
                                              const AuditEntry& entry) {
  std::string text;
  detail::append_field(text, previous);
  detail::append_field(text, std::to_string(sequence));
  detail::append_field(text, std::to_string(to_unix_ms(entry.at)));
  for (const std::string_view field :
       {std::string_view{entry.actor}, std::string_view{entry.actor_name},
        std::string_view{entry.remote_ip}, std::string_view{entry.request_id},
        std::string_view{entry.action}, std::string_view{entry.subject},
        std::string_view{entry.tenant_id}, std::string_view{entry.detail}}) {
    detail::append_field(text, field);
  }
  return text;
}

/// The record that follows `last`, the newest record. `last` is empty if the log is empty.
[[nodiscard]] inline AuditRecord chain_entry(const AuditRecord& last, AuditEntry entry,
                                             Digest digest) {
  const std::int64_t sequence = last.sequence + 1;
  std::string hash = digest(chained_text(last.hash, sequence, entry));
  return {.sequence = sequence, .entry = std::move(entry), .hash = std::move(hash)};
}

/// Verifies the next record. Returns false if the chain is broken there.
[[nodiscard]] inline bool verify_next(ChainWalk& walk, const AuditRecord& next, Digest digest) {
  const std::int64_t expected = walk.last + 1;
  if (next.sequence != expected ||
      next.hash != digest(chained_text(walk.head, expected, next.entry))) {
    walk.broken_at = expected;
    return false;
  }
  ++walk.checked;
  walk.last = expected;
  walk.head = next.hash;
  return true;
}

}  // namespace postrider
