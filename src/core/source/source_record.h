// One message of a source of events: an outbox row, a stream entry or a queue message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/secret.h"

namespace postrider {

/// A named part of a message: a column, a stream field, a message property or a JSON member.
struct SourceField {
  std::string name;
  std::string value;
  bool is_json = false;  // The value is JSON text. Otherwise it is plain text.

  bool operator==(const SourceField&) const = default;
};

/// The only receiver of an event, for applications without subscriptions.
struct SourceTarget {
  std::string url;
  std::optional<Secret<std::string>> secret = std::nullopt;
};

/// The row that a message is, if its status is written back to it (SourceRow in engine/intake).
struct RecordRow {
  std::string id;
  std::uint32_t generation = 0;
};

struct SourceRecord {
  std::string receipt;  // Names the message in EventSource::settle. Unique within its batch.
  std::vector<SourceField> fields;
  /// Why the message cannot be read, as a sentence. It is rejected with this reason.
  std::optional<std::string> problem = std::nullopt;
  std::optional<SourceTarget> target = std::nullopt;  // nullopt: the subscribed webhooks.
  std::optional<RecordRow> row = std::nullopt;        // nullopt: nothing is written back.
};

}  // namespace postrider
