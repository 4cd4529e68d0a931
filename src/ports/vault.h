// Keeps what must not be readable on disk: seals bytes and opens them again.
//
// A store is given one when the operator gave a key; without one it stores such bytes as they are
// and says so in the row. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace postrider {

class Vault {
 public:
  virtual ~Vault() = default;

  /// Sealed under the current key. `context` names the value's place (whose it is and which field):
  /// it opens in that place only. The same bytes sealed twice look different.
  [[nodiscard]] virtual std::string seal(std::string_view plain,
                                         std::string_view context) const = 0;

  /// Fails with invalid when the key it was sealed under is not here, with corrupt when it was
  /// changed or belongs to another place.
  [[nodiscard]] virtual Result<std::string> open(std::string_view sealed,
                                                 std::string_view context) const = 0;

  /// Sealed under the key that seals now?
  [[nodiscard]] virtual bool is_current(std::string_view sealed) const = 0;

 protected:
  Vault() = default;
  Vault(const Vault&) = default;
  Vault& operator=(const Vault&) = default;
};

}  // namespace postrider
