// The numbers of PostgreSQL's built-in types (pg_type.dat). They never change.
#pragma once

#include <cstdint>

namespace postrider::postgres {

using Oid = std::uint32_t;

namespace oid {

constexpr Oid boolean = 16;
constexpr Oid bytea = 17;
constexpr Oid int8 = 20;
constexpr Oid int2 = 21;
constexpr Oid int4 = 23;
constexpr Oid text = 25;
constexpr Oid float8 = 701;
constexpr Oid uuid = 2950;

constexpr Oid boolean_array = 1000;
constexpr Oid bytea_array = 1001;
constexpr Oid int2_array = 1005;
constexpr Oid int4_array = 1007;
constexpr Oid text_array = 1009;
constexpr Oid int8_array = 1016;
constexpr Oid float8_array = 1022;
constexpr Oid uuid_array = 2951;

}  // namespace oid
}  // namespace postrider::postgres
