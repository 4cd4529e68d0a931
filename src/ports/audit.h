// The audit log: who changed what. Append-only; every entry is chained to the previous one by a
// hash, so that removed or altered entries are detected.
//
// The specification is tests/contract/audit_contract.cc. Calls block. AuditWriter is used by the
// store thread only, each AuditReader by one reader thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/audit_entry.h"
#include "core/model/event.h"
#include "core/model/page.h"

namespace postrider {

/// SHA-256, 32 raw bytes. Passed in, because a store has no cryptography of its own.
using Digest = std::string (*)(std::string_view text);

/// A stored entry. `hash` covers the previous hash, the sequence and the entry.
struct AuditRecord {
  std::int64_t sequence = 0;  // From 1, without gaps.
  AuditEntry entry;
  std::string hash;

  bool operator==(const AuditRecord&) const = default;
};

class AuditWriter {
 public:
  virtual ~AuditWriter() = default;

  /// Appends the entry to the chain, in the open transaction or in its own.
  [[nodiscard]] virtual Result<void> append(const AuditEntry& entry) = 0;

 protected:
  AuditWriter() = default;
  AuditWriter(const AuditWriter&) = default;
  AuditWriter& operator=(const AuditWriter&) = default;
};

/// nullopt does not restrict.
struct AuditFilter {
  std::optional<std::string> actor;
  std::optional<std::string> action;
  std::optional<std::string> subject;
  std::optional<TenantId> tenant_id;
  std::optional<WallTime> from;  // `at`
  std::optional<WallTime> to;    // Exclusive.
};

/// The result of verifying a part of the chain.
struct ChainWalk {
  std::uint64_t checked = 0;
  std::int64_t last = 0;                  // The sequence of the last valid entry.
  std::string head;                       // Its hash; empty if there is none.
  std::optional<std::int64_t> broken_at;  // The first sequence that is missing or invalid.
  bool more = false;                      // The limit was reached: continue after `last`.

  bool operator==(const ChainWalk&) const = default;
};

class AuditReader {
 public:
  virtual ~AuditReader() = default;

  /// Newest first.
  [[nodiscard]] virtual Result<Listed<AuditRecord>> list(const AuditFilter& filter,
                                                         const Page& page) = 0;

  /// Verifies at most `limit` entries after `after`, whose own hash is trusted; 0 starts at the
  /// beginning. Entries removed from the end are not detected: compare `head` with a copy kept
  /// elsewhere.
  [[nodiscard]] virtual Result<ChainWalk> verify(std::int64_t after, std::uint32_t limit) = 0;

 protected:
  AuditReader() = default;
  AuditReader(const AuditReader&) = default;
  AuditReader& operator=(const AuditReader&) = default;
};

}  // namespace postrider
