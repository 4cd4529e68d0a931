#include "main/sources.h"

#include "core/base/assert.h"

#include "adapters/amqp/amqp_source.h"
#include "adapters/postgres/outbox_source.h"
#include "adapters/postgres/outbox_status.h"
#include "adapters/redis/redis_source.h"

namespace postrider {
namespace {

using MadeSource = Result<std::unique_ptr<EventSource>>;

OutboxOptions outbox_options(const config::SourceConfig& source, const std::string& node) {
  return {.name = source.name,
          .address = source.address,
          .ca_file = source.ca_file,
          .table = source.table,
          .node = node};
}

MadeSource make_outbox(const config::SourceConfig& source, const std::string& node) {
  return has_row_status(source) ? make_outbox_status_source(outbox_options(source, node))
                                : make_outbox_cursor_source(outbox_options(source, node));
}

MadeSource make_redis(const config::SourceConfig& source, const std::string& node) {
  return make_redis_source({
      .address = source.address,
      .ca_file = source.ca_file,
      .stream = source.stream,
      .group = source.group,
      .consumer = source.consumer.empty() ? node : source.consumer,
      .json_field = source.json_field,
      .parking_stream = source.parking,
      .claim_after = source.claim_after,
      .trims = source.trims,
  });
}

MadeSource make_amqp(const config::SourceConfig& source) {
  MadeSource made = make_amqp_source({
      .address = source.address,
      .ca_file = source.ca_file,
      .queue = source.queue,
      .parking_queue = source.parking,
      .declares = source.declares,
      .body_is_envelope = source.body_is_envelope,
      .prefetch = source.prefetch,
  });
  if (!made) {
    return fail(Errc::invalid,
                fmt::format("The source {} cannot be used. {}", source.name, made.error().message));
  }
  return made;
}

}  // namespace

bool has_row_status(const config::SourceConfig& source) {
  return source.kind == config::SourceKind::outbox && source.mode == config::OutboxMode::status;
}

std::unique_ptr<RowStatusSink> make_row_status_sink(const config::SourceConfig& source,
                                                    const std::string& node) {
  return make_outbox_status_sink(outbox_options(source, node));
}

Result<std::unique_ptr<EventSource>> make_source(const config::SourceConfig& source,
                                                 const std::string& node) {
  switch (source.kind) {
    case config::SourceKind::outbox:
      return make_outbox(source, node);
    case config::SourceKind::redis:
      return make_redis(source, node);
    case config::SourceKind::amqp:
      return make_amqp(source);
  }
  POSTRIDER_ASSERT(false);
  return fail(Errc::invalid, "The kind of the source is not known.");
}

}  // namespace postrider
