// Wires the configured sources of events to the node and the API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

#include "api/resources/api_control.h"
#include "config/config.h"
#include "runtime/delivery/node.h"

namespace postrider {

/// Names this node among those that read the same sources, by its machine and data directory.
[[nodiscard]] std::string node_name(const std::string& host, const std::string& data_directory);

/// The parts for Node::set_sources. Fails with the errors of make_source. `store_id` names the
/// store in outboxes whose rows are handed over to it.
[[nodiscard]] Result<std::vector<SourceParts>> make_sources(
    const config::Config& config, Node& node, const std::shared_ptr<const api::ApiControl>& control,
    const std::string& store_id);

}  // namespace postrider
