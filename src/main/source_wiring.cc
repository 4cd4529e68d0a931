#include "main/source_wiring.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/request/signature.h"

#include "adapters/openssl/digest.h"
#include "adapters/system/environment.h"
#include "api/resources/source_intake.h"
#include "config/source_settings.h"
#include "main/sources.h"

namespace postrider {

std::string node_name(const std::string& host, const std::string& data_directory) {
  constexpr std::size_t digits = 8;
  std::error_code ignored;  // The path as it is written is then unique enough.
  const std::filesystem::path path = std::filesystem::absolute(data_directory, ignored);
  const std::string digest = to_hex(sha256(path.lexically_normal().string()));
  return fmt::format("{}-{}", host, digest.substr(0, digits));
}

Result<std::vector<SourceParts>> make_sources(const config::Config& config, Node& node,
                                              const std::shared_ptr<const api::ApiControl>& control,
                                              const std::string& store_id) {
  const std::vector<boost::asio::io_context*> loops = node.io_contexts();
  const std::string name = node_name(host_name(), config.data);
  std::vector<SourceParts> parts;
  for (const config::SourceConfig& source : config.sources) {
    const bool tracks_rows = has_row_status(source);
    // Rows belong to the store that tracks them, wherever it runs.
    const std::string own_name = tracks_rows ? fmt::format("{}/{}", store_id, source.name) : name;
    POSTRIDER_TRY(std::unique_ptr<EventSource> made, make_source(source, own_name));
    parts.push_back(
        {.name = source.name,
         .kind = std::string{to_string(source.kind)},
         .batch_max = source.batch_max,
         .source = std::move(made),
         .intake = api::make_source_intake(*loops[parts.size() % loops.size()], node.service(),
                                           control, {source.name, source.mapping, store_id}),
         .row_status = tracks_rows ? make_row_status_sink(source, own_name) : nullptr,
         .keep_delivered = source.keep_delivered});
  }
  return parts;
}

}  // namespace postrider
