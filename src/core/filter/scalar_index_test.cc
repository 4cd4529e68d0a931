// The index agrees with the rules that it was made of.
#include "core/filter/scalar_index.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/filter/filter_rule_reader.h"

namespace postrider::filter {
namespace {

using Texts = std::vector<std::string>;

/// Texts that begin with a brace are rules, others are plain values.
LeafRules leaf(const Texts& items) {
  LeafRules rules;
  OneOf values;
  RuleReader reader;
  for (const std::string& item : items) {
    if (!item.starts_with('{')) {
      values.add(Scalar::from_json(item));
    } else if (auto read = reader.read(item, "x")) {
      rules.push_back(std::move(read->rule));
    } else {
      ADD_FAILURE() << item << ": " << read.error().message;
    }
  }
  values.sort();
  rules.push_back({.tests = {std::move(values)}});
  return rules;
}

LeafSet expected(const std::vector<LeafRules>& leaves, const Scalar& value) {
  LeafSet accepting = 0;
  for (std::size_t index = 0; index < leaves.size(); ++index) {
    const bool accepts =
        std::ranges::any_of(leaves[index], [&](const Rule& rule) { return matches(rule, value); });
    accepting |= accepts ? leaf_bit(index) : 0;
  }
  return accepting;
}

LeafSet find(const std::vector<LeafRules>& leaves, std::string_view json) {
  return ScalarIndex{leaves}.find(Scalar::from_json(json), 0);
}

TEST(ScalarIndex, FindsTheLeavesThatAcceptANumber) {
  const std::vector<LeafRules> leaves = {
      leaf({"1", "2.50"}),
      leaf({R"({"numeric":[">",1,"<=",2.5]})"}),
      leaf({R"({"numeric":["=",2]})"}),
      leaf({R"({"numeric":["<",1]})"}),
      leaf({R"({"anything-but":[1,2]})"}),
      leaf({R"({"exists":true})"}),
      leaf({R"({"anything-but":{"prefix":"1"}})"}),
  };
  EXPECT_EQ(find(leaves, "0.9"), 0b1111000u);
  EXPECT_EQ(find(leaves, "10e-1"), 0b1100001u);
  EXPECT_EQ(find(leaves, "1.5"), 0b1110010u);
  EXPECT_EQ(find(leaves, "2.0"), 0b1100110u);
  EXPECT_EQ(find(leaves, "2.5"), 0b1110011u);
  EXPECT_EQ(find(leaves, "3"), 0b1110000u);
}

TEST(ScalarIndex, DistinguishesNumbersThatDifferAfterManyDigits) {
  const std::string digits(30, '7');
  const std::vector<LeafRules> leaves = {leaf({digits + "1"}), leaf({digits + "2"}),
                                         leaf({R"({"numeric":["<",)" + digits + "2]}"})};
  EXPECT_EQ(find(leaves, digits + "0"), 0b100u);
  EXPECT_EQ(find(leaves, digits + "1"), 0b101u);
  EXPECT_EQ(find(leaves, digits + "1.0"), 0b101u);
  EXPECT_EQ(find(leaves, digits + "2"), 0b010u);
  EXPECT_EQ(find(leaves, "-" + digits + "2"), 0b100u);
}

TEST(ScalarIndex, FindsTheLeavesThatAcceptAString) {
  const std::vector<LeafRules> leaves = {
      leaf({R"("a")", R"("b")"}),
      leaf({R"({"anything-but":["a","c"]})"}),
      leaf({R"({"anything-but":"a"})", R"({"anything-but":"b"})"}),
      leaf({R"({"prefix":{"equals-ignore-case":"ÄB"}})"}),
      leaf({R"({"anything-but":{"wildcard":["*a*","*b"]}})"}),
      leaf({R"({"cidr":"10.0.0.0/8"})", R"({"suffix":"z"})"}),
  };
  EXPECT_EQ(find(leaves, R"("a")"), 0b000101u);
  EXPECT_EQ(find(leaves, R"("b")"), 0b000111u);
  EXPECT_EQ(find(leaves, R"("c")"), 0b010100u);
  EXPECT_EQ(find(leaves, R"("äBc")"), 0b011110u);
  EXPECT_EQ(find(leaves, R"("10.1.2.3")"), 0b110110u);
  EXPECT_EQ(find(leaves, R"("z")"), 0b110110u);
}

TEST(ScalarIndex, FindsTheLeavesThatAcceptALiteral) {
  const std::vector<LeafRules> leaves = {leaf({"true", "null"}),
                                         leaf({R"({"anything-but":[true]})"}), leaf({R"("true")"})};
  EXPECT_EQ(find(leaves, "true"), 0b001u);
  EXPECT_EQ(find(leaves, "false"), 0b010u);
  EXPECT_EQ(find(leaves, "null"), 0b011u);
  EXPECT_EQ(find(leaves, R"("true")"), 0b110u);
}

TEST(ScalarIndex, HasAsManyLeavesAsBits) {
  std::vector<LeafRules> leaves;
  for (std::size_t index = 0; index < leaves_max; ++index) {
    leaves.push_back(leaf({std::to_string(index), R"({"prefix":"x"})"}));
  }
  EXPECT_EQ(find(leaves, "63"), leaf_bit(63));
  EXPECT_EQ(find(leaves, "64"), 0u);
  EXPECT_EQ(find(leaves, R"("xy")"), ~LeafSet{0});
}

std::string any_item() {
  static const Texts items = {R"("")",
                              R"("a")",
                              R"("ab")",
                              R"("Ä")",
                              "0",
                              "-0.0",
                              "1",
                              "1.00",
                              "10",
                              "-1",
                              "1e1",
                              "100000000000000000001",
                              "true",
                              "null",
                              R"({"exists":true})",
                              R"({"exists":false})",
                              R"({"prefix":"a"})",
                              R"({"prefix":{"equals-ignore-case":"A"}})",
                              R"({"suffix":"b"})",
                              R"({"suffix":{"equals-ignore-case":"ä"}})",
                              R"({"equals-ignore-case":"AB"})",
                              R"({"wildcard":"*a*"})",
                              R"({"wildcard":"a*b"})",
                              R"({"cidr":"10.0.0.0/24"})",
                              R"({"numeric":[">",1]})",
                              R"({"numeric":[">=",-1,"<",10]})",
                              R"({"numeric":["<=",1.0]})",
                              R"({"numeric":["=",100000000000000000000]})",
                              R"({"anything-but":["a",1]})",
                              R"({"anything-but":["ab",10,true]})",
                              R"({"anything-but":{"prefix":["a","Ä"]}})",
                              R"({"anything-but":{"wildcard":"*b*"}})",
                              R"({"anything-but":{"equals-ignore-case":["A","ÄÖ"]}})"};
  return *rc::gen::elementOf(items);
}

RC_GTEST_PROP(ScalarIndex, AgreesWithTheRules, ()) {
  static const Texts values = {R"("")",
                               R"("a")",
                               R"("A")",
                               R"("b")",
                               R"("ab")",
                               R"("aB")",
                               R"("Ä")",
                               R"("ä")",
                               R"("aÄ")",
                               R"("äö")",
                               R"("10.0.0.7")",
                               R"("\u0061b")",
                               "-2",
                               "-1",
                               "-1.0",
                               "-0.5",
                               "0",
                               "0.0e5",
                               "0.5",
                               "1",
                               "1.5",
                               "1e1",
                               "11",
                               "100000000000000000000",
                               "1e20",
                               "1e400",
                               "100000000000000000000.5",
                               "100000000000000000001",
                               "true",
                               "false",
                               "null"};
  std::vector<LeafRules> leaves(*rc::gen::inRange<std::size_t>(1, 6));
  for (LeafRules& rules : leaves) {
    Texts items;
    for (int count = *rc::gen::inRange(1, 5); count > 0; --count) {
      items.push_back(any_item());
    }
    rules = leaf(items);
  }
  const ScalarIndex index{leaves};
  const auto known = *rc::gen::inRange<LeafSet>(0, 64);
  for (const std::string& value : values) {
    const Scalar scalar = Scalar::from_json(value);
    RC_ASSERT((index.find(scalar, known) | known) == (expected(leaves, scalar) | known));
    RC_ASSERT(index.find(scalar, 0) == expected(leaves, scalar));
  }
}

}  // namespace
}  // namespace postrider::filter
