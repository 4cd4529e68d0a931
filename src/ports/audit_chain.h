// How audit entries hang together, once for every store. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ports/audit.h"

namespace postrider {

namespace detail {

/// The length in front makes it impossible that two different entries give the same text.
inline void append_field(std::string& text, std::string_view field) {
  text.append(std::to_string(field.size())).append(":").append(field).append("\n");
}

}  // namespace detail

/// What is hashed for the entry at `sequence` behind `previous`.
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

/// The entry in its place behind `last`, the newest record; an empty record when there is none.
[[nodiscard]] inline AuditRecord chain_entry(const AuditRecord& last, AuditEntry entry,
                                             Digest digest) {
  const std::int64_t sequence = last.sequence + 1;
  std::string hash = digest(chained_text(last.hash, sequence, entry));
  return {.sequence = sequence, .entry = std::move(entry), .hash = std::move(hash)};
}

/// Takes the next record of a walk. False: the chain is broken there, and the walk is over.
[[nodiscard]] inline bool walk_on(ChainWalk& walk, const AuditRecord& next, Digest digest) {
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
