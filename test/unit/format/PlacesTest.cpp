// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles and routers as packed numbers: what comes back, and what damaged bytes do.
#include "runtime/format/Places.h"
#include "test/support/Seed.h"

#include "gtest/gtest.h"

#include <climits>
#include <random>

namespace wsc::format {
namespace {

Lattice lattice(int32_t row, int32_t col, Lattice::Dim first = {}, Lattice::Dim last = {}) {
  Lattice result;
  result.row = row;
  result.col = col;
  result.dims[0] = first;
  result.dims[kMaxDims - 1] = last;
  return result;
}

Configuration places() {
  Configuration configuration;
  const std::vector<std::pair<std::string, Lattice>> roles = {
      {"conv0.mac", lattice(0, 1, {3, 13, 0}, {40, 0, 1})},
      {"conv0.mac.1", lattice(39, 1, {}, {40, 0, 1})},
      {"conv0.mac.2", lattice(2, 7, {3, 13, 0}, {40, 0, 1})},
      {"", lattice(INT32_MAX, INT32_MIN)},
      {".3", lattice(INT32_MIN, INT32_MAX, {INT32_MIN, INT32_MAX, -1})},
      {"name.01", lattice(-5, 0)}, // not a number as it would be written
      {"name.2147483647", lattice(0, 0)},
      {"name.2147483648", lattice(0, 0)},
      {"name.-1", lattice(0, 0)},
      {"name.", lattice(0, 0)},
  };
  for (const auto &[name, cores] : roles) {
    Role &role = configuration.roles.emplace_back();
    role.name = name;
    role.cores = cores;
    role.kernel = int32_t(configuration.roles.size()) - 2;
  }
  for (int32_t i = 0; i < 5; ++i)
    configuration.routers.push_back({lattice(7 * i, i % 2, {5, 1, 0}), uint8_t(51 * i), i == 3 ? -1 : INT32_MAX - i,
                                     std::vector<SwitchPosition>(size_t(i % 3), {Port::West, uint8_t(17 + i % 2)})});
  return configuration;
}

std::vector<PlacedRole> readRoles(const std::vector<uint8_t> &bytes, bool *sound = nullptr) {
  RoleReader reader(bytes);
  std::vector<PlacedRole> roles;
  for (PlacedRole role; reader.next(role);)
    roles.push_back(role);
  if (sound)
    *sound = reader.sound();
  return roles;
}

std::vector<RouterRole> readRouters(const std::vector<uint8_t> &bytes, bool *sound = nullptr) {
  RouterReader reader(bytes);
  std::vector<RouterRole> routers;
  for (RouterRole router; reader.next(router);)
    routers.push_back(router);
  if (sound)
    *sound = reader.sound();
  return routers;
}

TEST(Places, ComeBack) {
  const Configuration written = places();
  const CommonParts parts(written);
  bool sound = false;
  const std::vector<PlacedRole> roles = readRoles(packRoles(written, parts), &sound);
  EXPECT_TRUE(sound);
  ASSERT_EQ(roles.size(), written.roles.size());
  for (size_t r = 0; r < roles.size(); ++r) {
    EXPECT_EQ(roles[r].name, written.roles[r].name);
    EXPECT_EQ(roles[r].kernel, written.roles[r].kernel);
    EXPECT_EQ(roles[r].cores, written.roles[r].cores) << r;
    EXPECT_EQ(roles[r].memory, parts.roles[r].memory);
    EXPECT_EQ(roles[r].program, parts.roles[r].program);
  }
  EXPECT_EQ(readRouters(packRouters(written), &sound), written.routers);
  EXPECT_TRUE(sound);
}

TEST(Places, TakeAFewBytesEach) {
  Configuration configuration;
  for (int32_t i = 0; i < 1000; ++i) {
    configuration.roles.push_back(places().roles[1]);
    configuration.roles.back().name = "conv0.mac." + std::to_string(i);
    configuration.roles.back().cores.row = 3 * i;
    configuration.routers.push_back(places().routers[1]);
    configuration.routers.back().routers.row = 3 * i;
  }
  EXPECT_LT(packRoles(configuration, CommonParts(configuration)).size(), 10'000u);
  EXPECT_LT(packRouters(configuration).size(), 11'000u);
}

// Bytes cut off are noticed unless they are whole roles.
TEST(Places, NoticeWhatIsCutOff) {
  const Configuration written = places();
  const std::vector<uint8_t> roles = packRoles(written, CommonParts(written)), routers = packRouters(written);
  size_t soundRoles = 0, soundRouters = 0;
  for (size_t size = 0; size < roles.size(); ++size) {
    bool sound = false;
    const size_t count = readRoles({roles.begin(), roles.begin() + long(size)}, &sound).size();
    EXPECT_LT(count, written.roles.size());
    soundRoles += sound;
  }
  for (size_t size = 0; size < routers.size(); ++size) {
    bool sound = false;
    EXPECT_LT(readRouters({routers.begin(), routers.begin() + long(size)}, &sound).size(), written.routers.size());
    soundRouters += sound;
  }
  EXPECT_EQ(soundRoles, written.roles.size());
  EXPECT_EQ(soundRouters, written.routers.size());
}

TEST(Places, RefuseNumbersThatDoNotFit) {
  for (const std::vector<uint8_t> &bytes : std::vector<std::vector<uint8_t>>{
           {0x80},                                                             // goes on, but there is no more
           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},       // beyond 64 bits
           {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, // longer than any number
       }) {
    PackReader reader(bytes);
    EXPECT_EQ(reader.number(), 0u);
    EXPECT_FALSE(reader.sound);
  }
  PackWriter big;
  big.number(256);
  EXPECT_EQ(PackReader(big.bytes).as<uint16_t>(), 256);
  PackReader byte(big.bytes);
  EXPECT_EQ(byte.as<uint8_t>(), 0);
  EXPECT_FALSE(byte.sound);
  PackWriter far;
  for (int64_t step : {int64_t(1), INT64_MAX, INT64_MIN})
    far.signedNumber(step);
  PackReader places(far.bytes);
  EXPECT_EQ(places.after(INT32_MAX - 1), INT32_MAX);
  EXPECT_TRUE(places.sound);
  EXPECT_EQ(places.after(INT32_MAX), 0);
  EXPECT_FALSE(places.sound);
}

TEST(Places, SurviveAnyBytes) {
  const uint64_t seed = wsc::test::seedOf(20261123);
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const Configuration written = places();
  const std::vector<uint8_t> roles = packRoles(written, CommonParts(written)), routers = packRouters(written);
  for (int round = 0; round < 4000; ++round) {
    for (std::vector<uint8_t> bytes : {roles, routers}) {
      for (int changes = 1 + int(random() % 4); changes > 0; --changes)
        bytes[random() % bytes.size()] = uint8_t(random());
      EXPECT_LE(readRoles(bytes).size(), bytes.size() / 7);
      EXPECT_LE(readRouters(bytes).size(), bytes.size() / 6);
    }
  }
}

} // namespace
} // namespace wsc::format
