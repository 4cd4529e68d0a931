// An incremental hash, for files that are too large to hold in memory. Implemented by
// adapters/openssl.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// One thread.
class RunningHash {
 public:
  virtual ~RunningHash() = default;

  virtual void add(std::string_view bytes) = 0;

  /// Returns the raw bytes of the hash. Do not call `add` afterwards.
  [[nodiscard]] virtual std::string finish() = 0;

 protected:
  RunningHash() = default;
  RunningHash(const RunningHash&) = default;
  RunningHash& operator=(const RunningHash&) = default;
};

}  // namespace postrider
