// A file in the data directory that holds the server's node id and is locked while it runs. A
// server that starts in the directory of a killed one can thus free the old leases at once, instead
// of waiting until they expire.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/lease.h"

namespace postrider {

/// Keeps the file locked until it is destroyed. Any thread.
class NodeFile {
 public:
  virtual ~NodeFile() = default;

  /// The previous server of the directory, if it is certainly gone: it ran since the last start of
  /// this machine, and its lock is free. Nullopt if the file is a copy: the lock of the original is
  /// another one.
  [[nodiscard]] virtual std::optional<NodeId> predecessor() const = 0;

 protected:
  NodeFile() = default;
  NodeFile(const NodeFile&) = default;
  NodeFile& operator=(const NodeFile&) = default;
};

/// Creates the directory if it is missing, and writes `id`. `boot`: identifies the start of the
/// machine; see boot_id(). Fails with conflict, and a sentence, if another server uses the
/// directory, otherwise with unavailable.
[[nodiscard]] Result<std::unique_ptr<NodeFile>> open_node_file(const std::string& directory,
                                                               NodeId id, const std::string& boot);

/// Identifies the current start of the machine. Empty if the system provides no such id.
[[nodiscard]] std::string boot_id();

}  // namespace postrider
