// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section recipes: bytes against the definition element by element, for random views; limits; files.
#include "compiler/emit/SectionRecipe.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>

namespace wsc::emit {
namespace {

std::shared_ptr<const std::vector<std::byte>> randomBytes(std::mt19937_64 &random, size_t count) {
  auto bytes = std::make_shared<std::vector<std::byte>>(count);
  for (std::byte &value : *bytes)
    value = std::byte(random());
  return bytes;
}

// The definition, one element after another.
std::vector<std::byte> expectedBytes(const SectionRecipe &recipe, const std::byte *source) {
  size_t unit = size_t(format::elementBytes(recipe.type));
  int64_t count = 1;
  for (int64_t extent : recipe.extents)
    count *= extent;
  std::vector<std::byte> result(size_t(count) * unit);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, element = recipe.elementOffset;
    for (size_t d = recipe.extents.size(); d > 0; --d) {
      element += rest % recipe.extents[d - 1] * recipe.strides[d - 1];
      rest /= recipe.extents[d - 1];
    }
    std::memcpy(result.data() + size_t(i) * unit, source + element * int64_t(unit), unit);
  }
  return result;
}

absl::StatusOr<std::vector<std::byte>> produced(const SectionRecipe &recipe) {
  absl::StatusOr<format::SectionSource> source = toSource(recipe);
  if (!source.ok())
    return source.status();
  std::vector<std::byte> out(size_t(source->bytes), std::byte(0xcd));
  if (absl::Status status = source->produce(out); !status.ok())
    return status;
  return out;
}

// A view with random extents; strides are a permutation of packed ones with some set to zero or reversed.
SectionRecipe randomView(std::mt19937_64 &random) {
  constexpr format::ElementType kTypes[] = {format::ElementType::F32, format::ElementType::F16, format::ElementType::U8,
                                            format::ElementType::F64};
  SectionRecipe recipe;
  recipe.name = "view";
  recipe.type = kTypes[random() % 4];
  size_t dims = random() % (kMaxSectionDims + 1);
  std::vector<size_t> order(dims);
  for (size_t d = 0; d < dims; ++d) {
    order[d] = d;
    recipe.extents.push_back(int64_t(dims <= 3 ? 1 + random() % 90 : random() % 6 == 0 ? 1 : 1 + random() % 5));
  }
  if (random() % 3)
    std::shuffle(order.begin(), order.end(), random);
  recipe.strides.assign(dims, 0);
  int64_t stride = random() % 4 ? 1 : 2;
  for (size_t d : order) {
    recipe.strides[d] = stride;
    stride *= recipe.extents[d];
  }
  for (size_t d = 0; d < dims; ++d) {
    if (random() % 8 == 0)
      recipe.strides[d] = 0;
    else if (random() % 8 == 0)
      recipe.strides[d] = -recipe.strides[d];
  }
  for (size_t d = 0; d < dims; ++d)
    recipe.elementOffset -= std::min<int64_t>(0, recipe.strides[d] * (recipe.extents[d] - 1));
  recipe.elementOffset += int64_t(random() % 3);
  int64_t elements = recipe.elementOffset + 1;
  for (size_t d = 0; d < dims; ++d)
    elements += std::max<int64_t>(0, recipe.strides[d] * (recipe.extents[d] - 1));
  recipe.inlineBytes = randomBytes(random, size_t(elements * format::elementBytes(recipe.type)));
  return recipe;
}

TEST(SectionRecipe, RandomViewsFollowTheDefinition) {
  const uint64_t seed = wsc::test::seedOf(1);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 400; ++i) {
    SectionRecipe recipe = randomView(random);
    absl::StatusOr<std::vector<std::byte>> bytes = produced(recipe);
    ASSERT_TRUE(bytes.ok()) << std::string(bytes.status().message());
    ASSERT_EQ(*bytes, expectedBytes(recipe, recipe.inlineBytes->data())) << "view " << i;
    // One element less and the view reads past the end.
    int64_t unit = format::elementBytes(recipe.type);
    auto shorter = std::make_shared<std::vector<std::byte>>(*recipe.inlineBytes);
    shorter->resize(shorter->size() - size_t(unit));
    recipe.inlineBytes = shorter;
    ASSERT_FALSE(sectionBytes(recipe).ok()) << "view " << i;
  }
}

TEST(SectionRecipe, FileAtUnalignedOffset) {
  std::string path = testing::TempDir() + "section-source.bin";
  std::mt19937_64 random(wsc::test::seedOf(7));
  auto bytes = randomBytes(random, 9001);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes->data()), std::streamsize(bytes->size()));
  SectionRecipe recipe;
  recipe.name = "w";
  recipe.path = path;
  recipe.sourceOffset = 4099;
  recipe.sourceBytes = 4 * 1200;
  recipe.extents = {40, 30};
  recipe.strides = {1, 40};
  absl::StatusOr<std::vector<std::byte>> out = produced(recipe);
  ASSERT_TRUE(out.ok()) << std::string(out.status().message());
  EXPECT_EQ(*out, expectedBytes(recipe, bytes->data() + 4099));

  recipe.sourceBytes = 4 * 1230;
  EXPECT_EQ(std::string(produced(recipe).status().message()),
            path + " has 9001 bytes, but bytes 4099 to 9019 are needed");
  recipe.path = path + ".none";
  EXPECT_EQ(produced(recipe).status().code(), absl::StatusCode::kNotFound);
  recipe.path = testing::TempDir();
  EXPECT_FALSE(produced(recipe).ok());
  std::remove(path.c_str());
}

SectionRecipe recipeOf(std::vector<int64_t> extents, std::vector<int64_t> strides, int64_t offset, size_t elements) {
  SectionRecipe recipe;
  recipe.name = "w";
  recipe.extents = std::move(extents);
  recipe.strides = std::move(strides);
  recipe.elementOffset = offset;
  recipe.inlineBytes = std::make_shared<std::vector<std::byte>>(elements * 4);
  return recipe;
}

TEST(SectionRecipe, WhatIsRefused) {
  auto message = [](const SectionRecipe &recipe) { return std::string(sectionBytes(recipe).status().message()); };
  EXPECT_EQ(message(recipeOf({4}, {1}, 1, 4)), "section w: reads element 4 of a source of 4 elements");
  EXPECT_EQ(message(recipeOf({4}, {-1}, 2, 4)), "section w: reads element -1 of a source of 4 elements");
  EXPECT_EQ(message(recipeOf({4, 4}, {1}, 0, 4)),
            "section w: 2 extents and 1 strides; there must be equally many, at most 8");
  EXPECT_EQ(message(recipeOf(std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1), 0, 4)),
            "section w: 9 extents and 9 strides; there must be equally many, at most 8");
  EXPECT_EQ(message(recipeOf({-1}, {1}, 0, 4)), "section w: extent -1 of dimension 0 is negative");
  EXPECT_EQ(message(recipeOf({INT64_MAX, 2}, {0, 0}, 0, 4)),
            "section w: its size or the elements it reads exceed 64 bits");
  EXPECT_EQ(message(recipeOf({3}, {INT64_MAX}, 0, 4)), "section w: its size or the elements it reads exceed 64 bits");
  SectionRecipe badType = recipeOf({1}, {1}, 0, 4);
  badType.type = format::ElementType(77);
  EXPECT_EQ(message(badType), "section w: element type 77 does not exist");
  SectionRecipe badOffset = recipeOf({1}, {1}, 0, 4);
  badOffset.sourceOffset = -1;
  EXPECT_EQ(message(badOffset), "section w: source starts at byte -1 and has 16 bytes");
}

TEST(SectionRecipe, EmptyAndScalar) {
  EXPECT_EQ(sectionBytes(recipeOf({0, INT64_MAX, INT64_MAX}, {1, 1, 1}, 0, 0)).value(), 0);
  EXPECT_EQ(produced(recipeOf({3, 0}, {1, 1}, 0, 0)).value().size(), 0u);
  EXPECT_EQ(produced(recipeOf({}, {}, 3, 4)).value().size(), 4u);
}

} // namespace
} // namespace wsc::emit
