#include "main/banner.h"

#include <gtest/gtest.h>

#include "cli/text/version.h"

namespace postrider {
namespace {

const Banner first_start{.at = wall_from_unix_ms(1'767'268'800'123),
                         .address = "http://127.0.0.1:8080",
                         .data = "./a \"b\"",
                         .admin_key = "pk_1",
                         .sign_in_url = "http://127.0.0.1:8080/sign-in#t"};

TEST(Banner, IsSeveralLinesForAPerson) {
  EXPECT_EQ(to_text(first_start),
            "Postrider " + std::string{cli::version()} +
                "\n  address    http://127.0.0.1:8080/\n"
                "  data       ./a \"b\"\n"
                "  admin key  pk_1   (shown only once; only its hash is stored)\n"
                "  sign in    http://127.0.0.1:8080/sign-in#t   (works once, for an hour)\n");
}

TEST(Banner, IsOneLineOfJson) {
  const std::string head =
      R"({"time":"2026-01-01T12:00:00.123Z","level":"info","message":"server.banner","version":")" +
      std::string{cli::version()} +
      R"(","address":"http://127.0.0.1:8080","data":"./a \"b\"","admin_key":)";
  EXPECT_EQ(to_json(first_start),
            head + R"("pk_1","sign_in_url":"http://127.0.0.1:8080/sign-in#t"})" + "\n");
  Banner later = first_start;
  later.admin_key.clear();
  later.sign_in_url.clear();
  EXPECT_EQ(to_json(later), head + "null,\"sign_in_url\":null}\n");
}

}  // namespace
}  // namespace postrider
