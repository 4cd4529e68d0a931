#include "adapters/amqp/amqp_address.h"

#include <gtest/gtest.h>

namespace postrider::amqp {
namespace {

Address parsed(std::string_view text) {
  const Result<Address> address = parse_address(text);
  EXPECT_TRUE(address.has_value()) << text << ": " << address.error().message;
  return address.value_or(Address{});
}

std::string refusal(std::string_view text) {
  const Result<Address> address = parse_address(text);
  EXPECT_FALSE(address.has_value()) << text;
  return address ? std::string{} : address.error().message;
}

TEST(AmqpAddress, HasTheDefaultsOfRabbitMq) {
  EXPECT_EQ(parsed("amqp://mq.example"), (Address{.host = "mq.example"}));
  EXPECT_EQ(parsed("amqps://mq.example"),
            (Address{.tls = true, .host = "mq.example", .port = 5671}));
  EXPECT_EQ(parsed("amqp://mq.example/"), (Address{.host = "mq.example"}));
}

TEST(AmqpAddress, AllPartsAreDecoded) {
  EXPECT_EQ(parsed("amqp://sh%6Fp:p%40ss%3aw%2Ford@mq.example:5673/%2fsh%C3%B6p?heartbeat=5"),
            (Address{.host = "mq.example",
                     .port = 5673,
                     .user = "shop",
                     .password = Secret<std::string>{"p@ss:w/ord"},
                     .vhost = "/sh\xC3\xB6p",
                     .heartbeat_s = 5}));
  EXPECT_EQ(parsed("amqp://u:a@b@h").password.reveal(), "a@b");
  EXPECT_EQ(parsed("amqp://u@h").password.reveal(), "");
  EXPECT_EQ(parsed("amqp://u@h%2f").host, "h%2f") << "a host is not decoded";
}

TEST(AmqpAddress, AnIpv6AddressIsInBrackets) {
  const Address address = parsed("amqp://[::1]:5673/a");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 5673);
  EXPECT_EQ(address.shown(), "[::1]:5673");
  EXPECT_EQ(parsed("amqp://[::1]").port, 5672);
}

TEST(AmqpAddress, RefusalsAreSentencesWithoutThePassword) {
  for (const char* text : {"",
                           "amqp:/h",
                           "http://u:secret@h",
                           "amqp://",
                           "amqp://u:secret@",
                           "amqp://u:secret@:5672",
                           "amqp://u:secret@h:",
                           "amqp://u:secret@h:0",
                           "amqp://u:secret@h:65536",
                           "amqp://u:secret@h:5672x",
                           "amqp://u:secret%@h",
                           "amqp://u:secret%zz@h",
                           "amqp://u:secret%00@h",
                           "amqp://u:secret@h/a/b",
                           "amqp://u:secret@h/%2",
                           "amqp://u:secret@[::1",
                           "amqp://u:secret@[::1]x",
                           "amqp://u:secret@h?heartbeat=0",
                           "amqp://u:secret@h?heartbeat=3601",
                           "amqp://u:secret@h?heartbeat",
                           "amqp://u:secret@h?x=1",
                           "amqp://u:secret@h?heartbeat=5&x=1"}) {
    const std::string message = refusal(text);
    EXPECT_TRUE(message.starts_with("The address of RabbitMQ ")) << text;
    EXPECT_TRUE(message.ends_with(".")) << text;
    EXPECT_EQ(message.find("secret"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace postrider::amqp
