// Linked if the program is built with POSTRIDER_DASHBOARD=OFF.
#include "api/ui/dashboard_file.h"

namespace postrider::api {

std::span<const DashboardFile> embedded_dashboard() { return {}; }

}  // namespace postrider::api
