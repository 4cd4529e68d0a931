// Makes the configured sources of events.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "ports/event_source.h"
#include "ports/row_status_sink.h"

#include "config/config.h"

namespace postrider {

/// `node` names this node among those that read the same sources; it is the same after a restart.
/// Does not connect. Fails with invalid if the address cannot be used.
[[nodiscard]] Result<std::unique_ptr<EventSource>> make_source(const config::SourceConfig& source,
                                                               const std::string& node);

/// Whether the status of deliveries is written back to the source.
[[nodiscard]] bool has_row_status(const config::SourceConfig& source);

/// Call if has_row_status. `node` is that of the source. Does not connect.
[[nodiscard]] std::unique_ptr<RowStatusSink> make_row_status_sink(
    const config::SourceConfig& source, const std::string& node);

/// Whether the status of deliveries is written back to the source.
[[nodiscard]] bool has_row_status(const config::SourceConfig& source);

/// Call if has_row_status. `node` is that of the source. Does not connect.
[[nodiscard]] std::unique_ptr<RowStatusSink> make_row_status_sink(
    const config::SourceConfig& source, const std::string& node);

}  // namespace postrider
