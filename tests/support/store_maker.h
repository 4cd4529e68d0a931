// A store that a test can open, use through its ports, and open again.
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

  /// Closes it and opens it again, as a restart of the server does.
  virtual void reopen() = 0;

 protected:
  OpenStore() = default;
  OpenStore(const OpenStore&) = delete;
  OpenStore& operator=(const OpenStore&) = delete;
};

struct StoreMaker {
  std::string name;
  std::function<std::unique_ptr<OpenStore>()> make;  // Fresh and empty.
};

/// So that a failing test names its store instead of its bytes.
inline void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }

}  // namespace postrider::test
