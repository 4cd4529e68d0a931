// Incremental SHA-256, for files that are too large to hold in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ports/running_hash.h"

namespace postrider {

/// One thread.
class RunningSha256 final : public RunningHash {
 public:
  RunningSha256();

  void add(std::string_view bytes) override;

  /// Returns 32 raw bytes. Do not call `add` afterwards.
  [[nodiscard]] std::string finish() override;

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

}  // namespace postrider
