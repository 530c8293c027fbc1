// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/session/RandomInputs.h"

#include "runtime/base/Random.h"
#include "runtime/numerics/Elements.h"

namespace wsc {

using namespace format;

Tensor randomTensor(const TensorType &type, uint64_t seed) {
  Tensor tensor;
  tensor.type = type;
  const int64_t size = elementBytes(type.type), count = type.elements();
  tensor.bytes.resize(size_t(size * count));
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = random.next();
    double value = 0;
    if (numerics::isFloat(type.type))
      value = double(bits >> 40) * 0x1p-23 - 1;
    else
      value = type.type == ElementType::Bool ? double(bits >> 63) : double(bits >> 60);
    numerics::storeElement(tensor.bytes.data() + i * size, type.type, numerics::encodeImmediate(value, type.type));
  }
  return tensor;
}

std::map<std::string, Tensor> randomInputs(const Entry &entry, uint64_t seed, int sample) {
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const uint64_t ofSample = Random(seed).next() ^ uint64_t(sample), ofInput = Random(ofSample).next() ^ uint64_t(i);
    inputs.emplace(entry.inputs[i].name, randomTensor(entry.inputs[i], Random(ofInput).next()));
  }
  return inputs;
}

} // namespace wsc
