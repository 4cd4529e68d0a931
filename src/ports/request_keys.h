// Which requests have been carried out: the idempotency keys of everything but events, whose keys
// are the ledger's.
//
// The specification is tests/contract/request_keys_contract.cc. Calls block. RequestKeyWriter
// belongs to the store thread, RequestKeyReader to a reader thread. Implementations never read a
// clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider {

/// A request that is to be carried out once.
struct RequestKey {
  std::string caller;  // Keys of different callers have nothing to do with each other.
  std::string key;
  std::string digest;        // Of everything that was asked for.
  WallTime expires_at;       // Exclusive.
  std::string subject = {};  // Of what is made, when the audit log is told of something else.

  bool operator==(const RequestKey&) const = default;
};

/// What a key was used for.
struct KeyUse {
  std::string digest;
  std::string subject;  // The id of what was made.

  bool operator==(const KeyUse&) const = default;
};

class RequestKeyWriter {
 public:
  virtual ~RequestKeyWriter() = default;

  /// Notes that the request makes `subject`, in the transaction that is open or one of its own.
  /// Fails with conflict, before anything is changed, when the key was used and has not expired.
  [[nodiscard]] virtual Result<void> take(const RequestKey& key, const std::string& subject,
                                          WallTime now) = 0;

  /// The request was not carried out after all: it may come again.
  [[nodiscard]] virtual Result<void> forget(const RequestKey& key) = 0;

  /// Forgets at most `limit` keys that have expired. How many they were.
  [[nodiscard]] virtual Result<std::uint32_t> remove_expired(WallTime now, std::uint32_t limit) = 0;

 protected:
  RequestKeyWriter() = default;
  RequestKeyWriter(const RequestKeyWriter&) = default;
  RequestKeyWriter& operator=(const RequestKeyWriter&) = default;
};

class RequestKeyReader {
 public:
  virtual ~RequestKeyReader() = default;

  /// What the key was used for; none when it was not, or has expired.
  [[nodiscard]] virtual Result<std::optional<KeyUse>> find(const std::string& caller,
                                                           const std::string& key,
                                                           WallTime now) = 0;

 protected:
  RequestKeyReader() = default;
  RequestKeyReader(const RequestKeyReader&) = default;
  RequestKeyReader& operator=(const RequestKeyReader&) = default;
};

}  // namespace postrider
