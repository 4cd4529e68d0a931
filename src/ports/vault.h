// Encrypts what must not be readable on disk: seals bytes and opens them again.
//
// A store has a vault if the operator configured a key. Without one it stores such bytes in plain
// text and marks the row accordingly. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace postrider {

class Vault {
 public:
  virtual ~Vault() = default;

  /// Encrypts under the current key. `context` names the owner and the field of the value; it opens
  /// only with the same context. Sealing the same bytes twice gives different results.
  [[nodiscard]] virtual std::string seal(std::string_view plain,
                                         std::string_view context) const = 0;

  /// Fails with invalid if the key it was sealed under was not given, with corrupt if it was
  /// altered or sealed with another context.
  [[nodiscard]] virtual Result<std::string> open(std::string_view sealed,
                                                 std::string_view context) const = 0;

  /// Whether it was sealed under the current key.
  [[nodiscard]] virtual bool is_current(std::string_view sealed) const = 0;

 protected:
  Vault() = default;
  Vault(const Vault&) = default;
  Vault& operator=(const Vault&) = default;
};

}  // namespace postrider
