// SHA-256 of what comes in pieces: files too large to hold.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace postrider {

/// One thread.
class RunningSha256 {
 public:
  RunningSha256();

  void add(std::string_view bytes);

  /// 32 raw bytes. Nothing may be added afterwards.
  [[nodiscard]] std::string finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

}  // namespace postrider
