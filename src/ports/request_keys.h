// Stores the idempotency keys of API requests, except publishes: the ledger stores those.
//
// The specification is tests/contract/request_keys_contract.cc. Calls block. RequestKeyWriter is
// used by the store thread only, each RequestKeyReader by one reader thread. Implementations never
// read a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/request_key.h"

namespace postrider {

/// What a key was used for.
struct KeyUse {
  std::string digest;
  std::string subject;  // The id of what was created.

  bool operator==(const KeyUse&) const = default;
};

class RequestKeyWriter {
 public:
  virtual ~RequestKeyWriter() = default;

  /// Records that the request creates `subject`, in the open transaction or in its own. Fails with
  /// conflict, without any change, if the key was used and has not expired.
  [[nodiscard]] virtual Result<void> take(const RequestKey& key, const std::string& subject,
                                          WallTime now) = 0;

  /// Removes the key of a request that was not performed after all, so that it can be repeated.
  [[nodiscard]] virtual Result<void> forget(const RequestKey& key) = 0;

  /// Removes at most `limit` expired keys. Returns the number removed.
  [[nodiscard]] virtual Result<std::uint32_t> remove_expired(WallTime now, std::uint32_t limit) = 0;

 protected:
  RequestKeyWriter() = default;
  RequestKeyWriter(const RequestKeyWriter&) = default;
  RequestKeyWriter& operator=(const RequestKeyWriter&) = default;
};

class RequestKeyReader {
 public:
  virtual ~RequestKeyReader() = default;

  /// Returns nullopt if the key was not used or has expired.
  [[nodiscard]] virtual Result<std::optional<KeyUse>> find(const std::string& caller,
                                                           const std::string& key,
                                                           WallTime now) = 0;

 protected:
  RequestKeyReader() = default;
  RequestKeyReader(const RequestKeyReader&) = default;
  RequestKeyReader& operator=(const RequestKeyReader&) = default;
};

}  // namespace postrider
