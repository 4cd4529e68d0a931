#include "core/model/attempt_list.h"

#include <algorithm>

namespace postrider {
namespace {

bool is(AttemptStatus status, const Attempt& attempt) {
  switch (status) {
    case AttemptStatus::succeeded:
      return !attempt.failure_category;
    case AttemptStatus::failed:
      return attempt.failure_category.has_value();
    case AttemptStatus::timeout:
      return attempt.failure_category == FailureCategory::timeout;
    case AttemptStatus::exhausted:
      return attempt.failure_category && !attempt.next_retry_at;
    case AttemptStatus::blocked:
      return false;
  }
  return false;
}

}  // namespace

bool admits_status(const AttemptFilter& filter, const Attempt& attempt) {
  return filter.statuses.empty() || std::ranges::any_of(filter.statuses, [&](AttemptStatus status) {
           return is(status, attempt);
         });
}

}  // namespace postrider
