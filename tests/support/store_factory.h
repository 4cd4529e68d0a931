// A store that a test can use through its ports and reopen.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "ports/store.h"

namespace postrider::test {

class OpenStore {
 public:
  virtual ~OpenStore() = default;

  [[nodiscard]] virtual Store& store() = 0;
  [[nodiscard]] virtual Reader& reader() = 0;

  /// Closes and opens the store, like a restart of the server.
  virtual void reopen() = 0;

 protected:
  OpenStore() = default;
  OpenStore(const OpenStore&) = delete;
  OpenStore& operator=(const OpenStore&) = delete;
};

struct StoreFactory {
  std::string name;
  std::function<std::unique_ptr<OpenStore>()> make;  // Returns a new, empty store.
};

/// Lets GoogleTest print the name of the store instead of its bytes.
inline void PrintTo(const StoreFactory& factory, std::ostream* out) { *out << factory.name; }

}  // namespace postrider::test
