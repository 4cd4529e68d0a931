// How alerts write numbers.
#pragma once

#include <string>

#include "core/base/time.h"
#include "engine/alerts/share_window.h"

namespace postrider {

/// Whole minutes; otherwise seconds or milliseconds.
[[nodiscard]] std::string duration_text(Millis length);

/// The part in per cent of the total; 0 if there is none.
[[nodiscard]] double percentage_of(const ShareWindow::Count& count);

/// `3 of 12 attempts (25 %)`.
[[nodiscard]] std::string share_text(const ShareWindow::Count& count, const char* things);

}  // namespace postrider
