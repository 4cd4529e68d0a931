// Publishes the messages of a source of events as POST /v1/events would: the same reader, checks
// and store. Quotas of events per minute do not apply: the operator configured the source, and one
// tenant's quota must not hold up the messages of others.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "core/source/field_mapping.h"

#include "api/resources/api_control.h"
#include "runtime/admin/service.h"
#include "runtime/sources/source_intake.h"

namespace postrider::api {

struct SourceIntakeOptions {
  std::string source;  // The source's name.
  FieldMapping mapping;
  std::string store_id = {};  // Secret to those who only use the API.
};

/// `io` is the io thread that publishes. It and `service` must outlive the result.
[[nodiscard]] std::unique_ptr<SourceIntake> make_source_intake(
    boost::asio::io_context& io, Service& service, std::shared_ptr<const ApiControl> control,
    SourceIntakeOptions options);

}  // namespace postrider::api
