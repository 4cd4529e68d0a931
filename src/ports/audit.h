// Who changed what: an append-only log in which every entry is chained to the one before it, so
// that a removed or altered entry shows.
//
// The specification is tests/contract/audit_contract.cc. Calls block. The AuditWriter is the store
// thread's; an AuditReader belongs to one reader thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "ports/history.h"
#include "ports/request_keys.h"

namespace postrider {

/// SHA-256, 32 raw bytes. Given by whoever wires the store: it knows no cryptography.
using Digest = std::string (*)(std::string_view text);

struct AuditEntry {
  WallTime at;
  std::string actor = "system";  // An API key's id; `system` for what the server did by itself.
  std::string actor_name;
  std::string remote_ip;
  std::string request_id;
  std::string action;         // `webhook.update`: the noun and the verb.
  std::string subject;        // The id of what was changed.
  TenantId tenant_id;         // Whose thing it is.
  std::string detail = "{}";  // A JSON object. Never a secret (P11).
  /// Set: what the entry tells of happens once (runtime/store/idempotent_request.h). Not part of
  /// the log.
  std::optional<RequestKey> request_key = std::nullopt;

  bool operator==(const AuditEntry&) const = default;
};

/// An entry in its place. `hash` is over the hash before it, the sequence and the entry.
struct AuditRecord {
  std::int64_t sequence = 0;  // From 1, without gaps.
  AuditEntry entry;
  std::string hash;

  bool operator==(const AuditRecord&) const = default;
};

class AuditWriter {
 public:
  virtual ~AuditWriter() = default;

  /// Adds the entry at the end of the chain, in the transaction that is open or one of its own.
  [[nodiscard]] virtual Result<void> append(const AuditEntry& entry) = 0;

 protected:
  AuditWriter() = default;
  AuditWriter(const AuditWriter&) = default;
  AuditWriter& operator=(const AuditWriter&) = default;
};

/// nullopts do not restrict.
struct AuditFilter {
  std::optional<std::string> actor;
  std::optional<std::string> action;
  std::optional<std::string> subject;
  std::optional<TenantId> tenant_id;
  std::optional<WallTime> from;  // `at`
  std::optional<WallTime> to;    // Exclusive.
};

/// What a walk along the chain found.
struct ChainWalk {
  std::uint64_t checked = 0;
  std::int64_t last = 0;                  // The sequence of the last entry that fits.
  std::string head;                       // Its hash; empty when there is none.
  std::optional<std::int64_t> broken_at;  // The first sequence that is missing or does not fit.
  bool more = false;                      // The walk ended at its limit: go on after `last`.

  bool operator==(const ChainWalk&) const = default;
};

class AuditReader {
 public:
  virtual ~AuditReader() = default;

  /// Newest first.
  [[nodiscard]] virtual Result<Listed<AuditRecord>> list(const AuditFilter& filter,
                                                         const Page& page) = 0;

  /// Checks at most `limit` entries behind `after`, whose own hash is taken as it stands; 0 starts
  /// at the beginning. What was cut off at the end cannot show: compare `head` with one noted
  /// elsewhere.
  [[nodiscard]] virtual Result<ChainWalk> verify(std::int64_t after, std::uint32_t limit) = 0;

 protected:
  AuditReader() = default;
  AuditReader(const AuditReader&) = default;
  AuditReader& operator=(const AuditReader&) = default;
};

}  // namespace postrider
