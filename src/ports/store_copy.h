// Moves everything that a store holds into an empty store of another kind, table by table
// (`postrider copy`). The tables and columns are those of the target; the source converts its own.
//
// Calls block. A source and a target are used by one thread, and have their stores to themselves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider {

/// The tables of the target that are copied, in this order.
inline constexpr auto copied_tables = std::to_array<std::string_view>({"registered_tenant",
                                                                       "api_key",
                                                                       "session",
                                                                       "sign_in_link",
                                                                       "webhook",
                                                                       "removed_webhook",
                                                                       "rescheduling",
                                                                       "circuit",
                                                                       "circuit_period",
                                                                       "request_shape",
                                                                       "event_type_entry",
                                                                       "notification_channel",
                                                                       "notification",
                                                                       "alert",
                                                                       "operation",
                                                                       "audit_entry",
                                                                       "request_key",
                                                                       "source_reader",
                                                                       "source_row",
                                                                       "claim",
                                                                       "fanout_list",
                                                                       "fanout",
                                                                       "tenant_stats",
                                                                       "webhook_stats",
                                                                       "waiting",
                                                                       "delivery",
                                                                       "event",
                                                                       "attempt"});

/// How the value of a column is read and compared.
enum class CopyKind : std::uint8_t {
  integer,  ///< Also booleans, enumerations and times.
  real,
  bytes  ///< Texts, blobs and ids.
};

struct CopyColumn {
  std::string name;
  CopyKind kind = CopyKind::bytes;
};

/// The values of a row, by the index of their column. Only `is_null` accepts a null value.
class CopyRow {
 public:
  virtual ~CopyRow() = default;

  [[nodiscard]] virtual bool is_null(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  /// Valid until the next call for this column or the next row.
  [[nodiscard]] virtual std::string_view bytes(int column) const = 0;

 protected:
  CopyRow() = default;
  CopyRow(const CopyRow&) = default;
  CopyRow& operator=(const CopyRow&) = default;
};

using TakeCopyRow = std::function<Result<void>(const CopyRow& row)>;

/// Identifies the store that is copied, and its state.
struct CopyOrigin {
  std::string identity;            // The random id of the store.
  std::int64_t position = 0;       // Changes with every transaction.
  std::int64_t last_number = 0;    // The largest sequence that was used.
  std::optional<WallTime> oldest;  // When the oldest event or delivery was made. Nullopt: none.
};

class CopySource {
 public:
  virtual ~CopySource() = default;

  [[nodiscard]] virtual const CopyOrigin& origin() const = 0;

  /// The number of rows that `read` gives. For progress.
  [[nodiscard]] virtual Result<std::uint64_t> count(std::string_view table) = 0;

  struct Read {
    std::string_view table;
    const std::vector<CopyColumn>* columns;  // The columns of the rows. Not null.
    std::uint64_t skip = 0;                  // The number of rows to skip at the beginning.
  };
  /// Calls `take` for each row, always in the same order.
  [[nodiscard]] virtual Result<void> read(const Read& what, const TakeCopyRow& take) = 0;

 protected:
  CopySource() = default;
  CopySource(const CopySource&) = default;
  CopySource& operator=(const CopySource&) = default;
};

enum class CopyState : std::uint8_t {
  none,
  unfinished,
  finished,
  used  ///< Finished, and a server has used the target since: it may differ from its original.
};

/// How much of a table is stored in the target.
struct CopiedTable {
  std::uint64_t rows = 0;
  bool complete = false;
};

class CopyTarget {
 public:
  virtual ~CopyTarget() = default;

  /// Fails with conflict if the target holds anything but a copy of `origin`.
  [[nodiscard]] virtual Result<CopyState> state(const CopyOrigin& origin) = 0;
  /// Begins a copy, or resumes one. From now on no server can use the target until `finish`.
  [[nodiscard]] virtual Result<void> begin(const CopyOrigin& origin) = 0;

  [[nodiscard]] virtual Result<std::vector<CopyColumn>> columns(std::string_view table) = 0;
  [[nodiscard]] virtual Result<CopiedTable> progress(std::string_view table) = 0;

  /// Adds rows to one table, after those that `progress` counts. Rows are stored together with the
  /// progress, some thousand at once; the last ones by `close_table`, which completes the table.
  [[nodiscard]] virtual Result<void> open_table(std::string_view table) = 0;
  [[nodiscard]] virtual Result<void> add(const CopyRow& row) = 0;
  [[nodiscard]] virtual Result<void> close_table() = 0;

  /// Calls `take` for each stored row of the table, in any order.
  [[nodiscard]] virtual Result<void> read(std::string_view table, const TakeCopyRow& take) = 0;

  /// Makes the target usable by servers. Their sequences continue after `origin.last_number`.
  [[nodiscard]] virtual Result<void> finish(const CopyOrigin& origin) = 0;

 protected:
  CopyTarget() = default;
  CopyTarget(const CopyTarget&) = default;
  CopyTarget& operator=(const CopyTarget&) = default;
};

}  // namespace postrider
