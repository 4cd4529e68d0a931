// Counts what an operation would act on, before it is started.
#pragma once

#include "core/model/operation.h"

#include "api/resources/context.h"

namespace postrider::api {

/// Answers 200 with the number of deliveries that the operation would retry, discard or send if it
/// ran now. Counts at most a bounded number of rows; if there are more, the answer says so.
[[nodiscard]] Awaitable<Reply> count_operation(Context context, Operation operation);

}  // namespace postrider::api
