// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs instructions over blocks of rows. Operands that are not packed, or stored in a narrower type than they are
// computed in, go through small buffers: packed, widened, computed, narrowed, unpacked, each step a loop over up to 256
// elements. Operands that are packed already are used in place. A block covers as many elements of the two innermost
// dimensions as may be computed together; the dimensions around it are walked in order.
#include "runtime/emulator/Rows.h"

#include "runtime/emulator/CopyGrid.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/numerics/Elements.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kBlock = 256; // elements
// Rows of up to so many columns are packed together: of which two operands and more, or one, are not packed.
constexpr int64_t kFewColumns = 6, kSomeColumns = 32;
constexpr int kDst = 0, kA = 1, kB = 2;

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <int64_t Bytes> void copyElements(std::byte *dst, const std::byte *a, const std::byte *, int64_t n) {
  std::memcpy(dst, a, size_t(n * Bytes));
}
ArrayOp copyPacked(int64_t bytes) {
  return bytes == 8 ? copyElements<8> : bytes == 4 ? copyElements<4> : bytes == 2 ? copyElements<2> : copyElements<1>;
}

template <typename T> void fillElements(std::byte *dst, const std::byte *a, const std::byte *, int64_t n) {
  const T value = load<T>(a);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(dst + i * int64_t(sizeof(T)), &value, sizeof(T));
}
ArrayOp fillPacked(int64_t bytes) {
  return bytes == 8   ? fillElements<uint64_t>
         : bytes == 4 ? fillElements<uint32_t>
         : bytes == 2 ? fillElements<uint16_t>
                      : fillElements<uint8_t>;
}

constexpr int64_t kLeastRows = 2, kMostRows = 64; // that are gathered number by number
constexpr int64_t kLeastRun = 16;                 // elements that are looked at for a run

// The last number that chooses an element inside the buffer. The place of number 0 moves, mostly by less than a step:
// then it is the same or one of its neighbours, which is quicker found than divided for.
class LastNumber {
public:
  // `start`: bytes into the buffer of number 0.
  LastNumber(const IndexedPlace &place, int64_t start, int64_t width)
      : step(std::abs(place.step)), direction(place.step > 0 ? -1 : 1),
        shift(std::has_single_bit(uint64_t(step)) ? std::countr_zero(uint64_t(step)) : -1),
        room(place.step > 0 ? place.bytes - width - start : start) {
    divide();
  }
  int64_t get() const { return last; }
  // How many of `count` places of number 0, each `bytes` behind the one before, have number `one` inside the buffer.
  int64_t countInside(int64_t one, int64_t bytes, int64_t count) const {
    const int64_t left = room - one * step;
    return left < 0 ? 0 : std::min(count, left / bytes + 1);
  }
  void move(int64_t bytes) {
    room += bytes * direction;
    if (std::abs(bytes) > step)
      divide();
    else if (last * step > room)
      last = std::max<int64_t>(0, last - 1);
    else if (last * step + step <= room && step > 0)
      ++last;
  }

private:
  void divide() { last = step == 0 || room < 0 ? 0 : shift >= 0 ? room >> shift : room / step; }
  int64_t step, direction;
  int shift;    // of a step that is a power of two; else -1
  int64_t room; // bytes that numbers may go through
  int64_t last = 0;
};

class Runner {
public:
  Runner(const RowOp &op, const RowShape &shape) : op(op), shape(shape) {}

  void run(std::byte *dst, const std::byte *a, const std::byte *b, const IndexedPlace &indexed) {
    switch (op.kind) {
    case RowOp::Kind::Copy:
      return copy(dst, a);
    case RowOp::Kind::Gather:
      return move<true>(dst, a, b, indexed);
    case RowOp::Kind::Scatter:
      return move<false>(dst, a, b, indexed);
    case RowOp::Kind::Compute:
      return compute(dst, a, b);
    }
  }

private:
  Grid grid(int k) const { return {shape.stride[k][2], shape.stride[k][3]}; }

  // Offset of operand k in iteration (i, j) of the outer dimensions.
  int64_t outer(int k, int64_t i, int64_t j) const { return i * shape.stride[k][0] + j * shape.stride[k][1]; }

  // Whether some source element is the dst element of another iteration.
  bool overlaps(const std::byte *dst, const std::byte *source, int k) const {
    if (!op.mayAlias[k] || source + shape.high[k] <= dst + shape.low[kDst] ||
        dst + shape.high[kDst] <= source + shape.low[k])
      return false;
    bool same = source == dst && op.bytes[k] == op.bytes[kDst] && shape.freeDims == kMaxDims;
    for (int d = 0; d < kMaxDims; ++d)
      same &= shape.extent[d] == 1 || shape.stride[k][d] == shape.stride[kDst][d];
    return !same;
  }

  void copy(std::byte *dst, const std::byte *a) {
    const bool apart = !overlaps(dst, a, kA);
    for (int64_t i = 0; i < shape.extent[0]; ++i)
      for (int64_t j = 0; j < shape.extent[1]; ++j)
        copyGrid(op.bytes[kDst], dst + outer(kDst, i, j), grid(kDst), a + outer(kA, i, j), grid(kA), shape.extent[2],
                 shape.extent[3], apart);
  }

  template <bool Gather>
  void move(std::byte *dst, const std::byte *a, const std::byte *b, const IndexedPlace &indexed) {
    switch (op.bytes[kDst]) {
    case 8:
      return moveIndexed<uint64_t, Gather>(dst, a, b, indexed);
    case 4:
      return moveIndexed<uint32_t, Gather>(dst, a, b, indexed);
    case 2:
      return moveIndexed<uint16_t, Gather>(dst, a, b, indexed);
    default:
      return moveIndexed<uint8_t, Gather>(dst, a, b, indexed);
    }
  }
  // Whether dst lies outside of the buffer from which numbers choose.
  bool liesApart(const std::byte *dst, const std::byte *a, const IndexedPlace &place) const {
    const std::byte *const buffer = a - place.origin;
    return !op.mayAlias[kA] || buffer + place.bytes <= dst + shape.low[kDst] || dst + shape.high[kDst] <= buffer;
  }
  // Whether no two elements of the two inner dimensions have the same place in dst.
  bool columnsLieApart() const {
    const auto [row, column] = grid(kDst);
    return row > 0 && column > 0 && (column >= row * shape.extent[2] || row >= column * shape.extent[3]);
  }
  // All rows take the same numbers, which choose from a place that moves from row to row: number by number. False:
  // nothing is done.
  template <typename T>
  bool gatherColumns(std::byte *dst, const std::byte *a, int64_t start, const std::byte *numbers,
                     const IndexedPlace &place) {
    const int64_t rows = shape.extent[2], columns = shape.extent[3], rowStep = shape.stride[kA][2];
    if (rows > kMostRows || place.step <= 0)
      return false;
    const std::byte *const first = a + start;
    const auto lastOf = [&](int64_t row) {
      return LastNumber(place, place.origin + start + row * rowStep, sizeof(T)).get();
    };
    // Numbers that all rows have in the buffer, and that some row has there.
    const auto [most, largest] = std::minmax({lastOf(0), lastOf(rows - 1)});
    int64_t furthest[kMostRows]; // bytes from `first` to the last number of each row, once one goes beyond
    bool isFar = false;
    // Rows that follow each other are copied as a run, to where they do so too: dst, or a copy that is transposed.
    const auto [toRow, toColumn] = grid(kDst);
    const bool follows = rowStep == sizeof(T),
               isTransposed = follows && toRow != sizeof(T) && rows >= 4 && columns >= 4 && rows * columns <= kBlock,
               isRun = isTransposed || toRow == sizeof(T);
    const int64_t toStep = isTransposed ? int64_t(sizeof(T)) : toRow;
    const std::byte *before = nullptr; // the column before, if it is a run
    int64_t numberBefore = 0;
    for (int64_t c = 0; c < columns; ++c) {
      std::byte *to = isTransposed ? packed[kDst] + c * rows * int64_t(sizeof(T)) : dst + c * toColumn;
      const int64_t number = std::clamp<int64_t>(load<int32_t>(numbers + c * shape.stride[kB][3]), 0, largest);
      if (before && number == numberBefore) { // as numbers outside of the buffer are
        copyRun(to, before, size_t(rows) * sizeof(T));
        before = to;
        continue;
      }
      before = isRun ? to : nullptr;
      numberBefore = number;
      int64_t from = number * place.step;
      if (number <= most) {
        if (isRun && follows)
          copyRun(to, first + from, size_t(rows) * sizeof(T));
        else
          for (int64_t r = 0; r < rows; ++r, to += toStep, from += rowStep)
            std::memcpy(to, first + from, sizeof(T));
        continue;
      }
      if (!std::exchange(isFar, true))
        for (int64_t r = 0; r < rows; ++r)
          furthest[r] = lastOf(r) * place.step + r * rowStep;
      for (int64_t r = 0; r < rows; ++r, to += toStep, from += rowStep)
        std::memcpy(to, first + std::min(from, furthest[r]), sizeof(T));
    }
    if (isTransposed)
      copyGrid(sizeof(T), dst, {toRow, toColumn}, packed[kDst], {sizeof(T), rows * int64_t(sizeof(T))}, rows, columns);
    return true;
  }

  // Packed numbers that follow each other, as those of a core's own block among zeros, choose a run of packed elements;
  // those below 0 choose the first one, those beyond `most` the last. False, and nothing is done, for others.
  template <typename T>
  static bool gatherRun(std::byte *to, const std::byte *from, const std::byte *numbers, int64_t count, int64_t most) {
    const auto first = load<int32_t>(numbers);
    if (load<int32_t>(numbers + (count - 1) * 4) - int64_t(first) != count - 1)
      return false;
    uint32_t differs = 0;
    for (int64_t c = 0; c < count; ++c)
      differs |= uint32_t(load<int32_t>(numbers + c * 4)) ^ (uint32_t(first) + uint32_t(c));
    if (differs)
      return false;
    const int64_t begin = std::clamp<int64_t>(-int64_t(first), 0, count),
                  end = std::clamp<int64_t>(most + 1 - first, begin, count);
    const auto fill = [&](int64_t low, int64_t high, int64_t number) {
      const T value = load<T>(from + number * int64_t(sizeof(T)));
      for (int64_t c = low; c < high; ++c)
        std::memcpy(to + c * int64_t(sizeof(T)), &value, sizeof(T));
    };
    fill(0, begin, 0);
    std::memcpy(to + begin * int64_t(sizeof(T)), from + (first + begin) * int64_t(sizeof(T)),
                size_t(end - begin) * sizeof(T));
    fill(end, count, most);
    return true;
  }

  template <typename T, bool Gather>
  void moveIndexed(std::byte *dst, const std::byte *a, const std::byte *b, const IndexedPlace &indexed) {
    constexpr int kIndexed = Gather ? kA : kDst, kOther = Gather ? kDst : kA;
    std::byte *memory = Gather ? const_cast<std::byte *>(a) : dst; // written by Scatter only
    std::byte *other = Gather ? dst : const_cast<std::byte *>(a);
    // Elements may lie anywhere, so what the loop needs is at hand in variables of its own.
    const IndexedPlace place = indexed;
    const int64_t count = shape.extent[3], otherStep = shape.stride[kOther][3], numberStep = shape.stride[kB][3],
                  startStep = shape.stride[kIndexed][3]; // numbers may be chosen in another place for each element
    const bool toBool = sizeof(T) == 1 && op.toBool;
    // One number for a row, which no result changes; beyond the end all elements of the row choose the same one.
    const bool isApart = Gather && !toBool && !overlaps(dst, b, kB) && liesApart(dst, a, place);
    const bool isPlain = isApart && numberStep == 0 && place.step > 0 && startStep > 0 && startStep % place.step == 0 &&
                         place.origin + shape.high[kA] <= place.bytes;
    const int64_t rowStep = shape.stride[kIndexed][2] - count * startStep; // from a row's end to the next one
    const bool isByColumns =
        isApart && startStep == 0 && shape.stride[kB][2] == 0 && shape.extent[2] >= kLeastRows && columnsLieApart();
    for (int64_t i = 0; i < shape.extent[0]; ++i)
      for (int64_t j = 0; j < shape.extent[1]; ++j) {
        int64_t start = outer(kIndexed, i, j);
        if (isByColumns && gatherColumns<T>(dst + outer(kDst, i, j), a, start, b + outer(kB, i, j), place))
          continue;
        LastNumber last(place, place.origin + start, sizeof(T));
        for (int64_t k = 0; k < shape.extent[2]; ++k) {
          std::byte *element = other + outer(kOther, i, j) + k * shape.stride[kOther][2];
          const std::byte *number = b + outer(kB, i, j) + k * shape.stride[kB][2];
          const auto moveOne = [&](int64_t most) {
            std::byte *chosen = memory + start + std::clamp<int64_t>(load<int32_t>(number), 0, most) * place.step;
            T value = load<T>(Gather ? chosen : element);
            if (toBool)
              value = value != 0;
            std::memcpy(Gather ? element : chosen, &value, sizeof(T));
            element += otherStep;
            number += numberStep;
          };
          if (startStep == 0) {
            const int64_t most = last.get();
            const bool mayRun =
                isApart && count >= kLeastRun && numberStep == 4 && place.step == sizeof(T) && otherStep == sizeof(T);
            if (mayRun && gatherRun<T>(element, memory + start, number, count, most)) {
              start += rowStep;
              last.move(rowStep);
              continue;
            }
            for (int64_t c = 0; c < count; ++c)
              moveOne(most);
          } else if (isPlain) {
            // Those that the number chooses inside the buffer follow each other; behind them all choose the last one.
            const int64_t one = std::max(0, load<int32_t>(number)), inside = last.countInside(one, startStep, count);
            copyGrid(sizeof(T), element, {0, otherStep}, memory + start + one * place.step, {0, startStep}, 1, inside,
                     true);
            start += inside * startStep;
            last.move(inside * startStep);
            if (inside < count)
              copyGrid(sizeof(T), element + inside * otherStep, {0, otherStep},
                       memory + start + last.get() * place.step, {0, 0}, 1, count - inside, true);
            start += (count - inside) * startStep;
            last.move((count - inside) * startStep);
          } else {
            for (int64_t c = 0; c < count; ++c) {
              moveOne(last.get());
              start += startStep;
              last.move(startStep);
            }
          }
          start += rowStep;
          last.move(rowStep);
        }
      }
  }

  void compute(std::byte *dst, const std::byte *a, const std::byte *b) {
    const bool inOrder = overlaps(dst, a, kA) || (op.usesB && overlaps(dst, b, kB));
    keeps = !inOrder;
    if (shape.chain && !inOrder)
      return addUp(dst, a);
    const int free = inOrder ? 0 : shape.freeDims;
    const int64_t *extent = shape.extent;
    const bool direct = !op.widen[kDst] && !op.widen[kA] && !op.widen[kB] && !op.narrow && isDirect(kDst) &&
                        isDirect(kA) && (!op.usesB || isDirect(kB) || shape.stride[kB][3] == 0);
    const int64_t columns = free == 0 ? 1 : direct ? extent[3] : std::min(extent[3], kBlock);
    const bool together = free >= 2 && columns == extent[3] &&
                          (!direct ? columns <= kBlock / 2 : columns <= (unpacked() > 1 ? kFewColumns : kSomeColumns));
    const int64_t rows = together ? std::min(extent[2], kBlock / columns) : 1;
    if (direct && free > 0 && rows == 1)
      return computeInPlace(dst, a, b);
    for (int64_t i = 0; i < extent[0]; ++i)
      for (int64_t j = 0; j < extent[1]; ++j)
        for (int64_t r = 0; r < extent[2]; r += rows)
          for (int64_t c = 0; c < extent[3]; c += columns) {
            const auto at = [&](int k) { return outer(k, i, j) + r * shape.stride[k][2] + c * shape.stride[k][3]; };
            block(dst + at(kDst), a + at(kA), op.usesB ? b + at(kB) : b, std::min(rows, extent[2] - r),
                  std::min(columns, extent[3] - c));
          }
  }
  // Row by row, of operands that are packed in each row, or (b) a single element of it.
  void computeInPlace(std::byte *dst, const std::byte *a, const std::byte *b) const {
    const int64_t *extent = shape.extent;
    const ArrayOp function = op.usesB && shape.stride[kB][3] == 0 ? op.computeScalarB : op.compute;
    for (int64_t i = 0; i < extent[0]; ++i)
      for (int64_t j = 0; j < extent[1]; ++j) {
        std::byte *to = dst + outer(kDst, i, j);
        const std::byte *first = a + outer(kA, i, j), *second = b + outer(kB, i, j);
        for (int64_t r = 0; r < extent[2]; ++r) {
          function(to, first, second, extent[3]);
          to += shape.stride[kDst][2];
          first += shape.stride[kA][2];
          second += shape.stride[kB][2];
        }
      }
  }
  // How many operands are not packed over all rows.
  int unpacked() const {
    int count = 0;
    for (int k = 0; k < (op.usesB ? 3 : 2); ++k)
      count += !grid(k).packed(shape.extent[2], shape.extent[3], op.bytes[k]);
    return count;
  }
  bool isDirect(int k) const { return shape.extent[3] == 1 || shape.stride[k][3] == op.bytes[k]; }

  // The operand's elements of a block, packed and, if it is computed so, widened.
  const std::byte *source(int k, const std::byte *at, int64_t rows, int64_t columns, bool widens = true) {
    if (keeps && at == kept[k].at && rows <= kept[k].rows && columns == kept[k].columns)
      return kept[k].elements;
    kept[k] = {at, rows, columns, at};
    if (!grid(k).packed(rows, columns, op.bytes[k])) {
      copyGrid(op.bytes[k], packed[k], {columns * op.bytes[k], op.bytes[k]}, at, grid(k), rows, columns);
      kept[k].elements = packed[k];
    }
    if (op.widen[k] && widens) {
      op.widen[k](widened[k], kept[k].elements, nullptr, rows * columns);
      kept[k].elements = widened[k];
    }
    return kept[k].elements;
  }

  void block(std::byte *dst, const std::byte *a, const std::byte *b, int64_t rows, int64_t columns) {
    const int64_t n = rows * columns;
    const std::byte *x = source(kA, a, rows, columns), *y = nullptr;
    ArrayOp compute = op.compute;
    if (op.usesB) {
      const bool scalar = (columns == 1 || shape.stride[kB][3] == 0) && (rows == 1 || shape.stride[kB][2] == 0);
      y = scalar ? source(kB, b, 1, 1) : source(kB, b, rows, columns);
      compute = scalar ? op.computeScalarB : op.compute;
    }
    const bool inPlace = grid(kDst).packed(rows, columns, op.bytes[kDst]);
    if (inPlace && !op.narrow)
      return compute(dst, x, y, n);
    std::byte *result = op.narrow ? widened[kDst] : packed[kDst];
    const Grid dense{columns * op.bytes[kDst], op.bytes[kDst]};
    if (op.readsDst) {
      if (!inPlace)
        copyGrid(op.bytes[kDst], packed[kDst], dense, dst, grid(kDst), rows, columns);
      if (op.widen[kDst])
        op.widen[kDst](result, inPlace ? dst : packed[kDst], nullptr, n);
    }
    compute(result, x, y, n);
    if (op.narrow)
      op.narrow(inPlace ? dst : packed[kDst], result, nullptr, n);
    if (!inPlace)
      copyGrid(op.bytes[kDst], dst, grid(kDst), packed[kDst], dense, rows, columns);
  }

  // The innermost dimension onto one dst element.
  void addUp(std::byte *dst, const std::byte *a) {
    const bool widens = op.widen[kDst] && !op.chainIsStored, widensA = op.widen[kA] && !op.chainIsStored;
    const int64_t columns = isDirect(kA) && !widensA ? shape.extent[3] : kBlock;
    for (int64_t i = 0; i < shape.extent[0]; ++i)
      for (int64_t j = 0; j < shape.extent[1]; ++j)
        for (int64_t r = 0; r < shape.extent[2]; ++r) {
          std::byte *to = dst + outer(kDst, i, j) + r * shape.stride[kDst][2], *sum = to;
          const std::byte *from = a + outer(kA, i, j) + r * shape.stride[kA][2];
          if (widens) {
            sum = widened[kDst];
            op.widen[kDst](sum, to, nullptr, 1);
          }
          for (int64_t c = 0; c < shape.extent[3]; c += columns) {
            const int64_t n = std::min(columns, shape.extent[3] - c);
            op.chain(sum, source(kA, from + c * shape.stride[kA][3], 1, n, widensA), nullptr, n);
          }
          if (widens)
            op.narrow(to, sum, nullptr, 1);
        }
  }

  const RowOp &op;
  const RowShape &shape;
  bool keeps = true; // sources do not change while the instruction runs
  struct Kept {
    const std::byte *at = nullptr;
    int64_t rows = 0, columns = 0;
    const std::byte *elements = nullptr;
  } kept[3];
  alignas(64) std::byte packed[3][kBlock * 8];
  alignas(64) std::byte widened[3][kBlock * 8];
};

bool worksOnBits(Opcode opcode) {
  return opcode == Opcode::And || opcode == Opcode::Or || opcode == Opcode::Xor || opcode == Opcode::Select;
}

// Bits are taken as they are stored, but a bool is brought to 0 or 1 first.
ElementType bitStorage(ElementType type) { return type == ElementType::Bool ? ElementType::I32 : type; }

// The type by which kernels know bits of `type`: the unsigned one of its width, but for conditions of floats.
ElementType bitType(Opcode opcode, ElementType type) {
  if (opcode == Opcode::Select && numerics::isFloat(type))
    return type == ElementType::BF16 ? ElementType::F16 : type;
  switch (elementBytes(type)) {
  case 8:
    return ElementType::U64;
  case 4:
    return ElementType::U32;
  case 2:
    return ElementType::U16;
  default:
    return ElementType::U8;
  }
}

} // namespace

bool mayShareMemory(const Role &role, int buffer, int other) {
  const Buffer &x = role.buffers[size_t(buffer)], &y = role.buffers[size_t(other)];
  return buffer == other ||
         (x.kind == BufferKind::Resident && y.kind == BufferKind::Resident && x.resident == y.resident);
}

std::optional<RowOp> rowOp(const Role &role, const Instruction &instruction, const Kernels &kernels) {
  const Opcode opcode = instruction.opcode;
  const OpcodeInfo &info = opcodeInfo(opcode);
  const Operand *operands[3] = {&instruction.dst, &instruction.a, &instruction.b};
  RowOp op;
  op.usesB = info.sources == 2;
  op.readsDst = info.readsDst;
  if (!numerics::isDefined(opcode, instruction.type))
    return std::nullopt;
  for (int k = 0; k < (op.usesB ? 3 : 2); ++k) {
    const OperandKind kind = operands[k]->kind;
    if (kind == OperandKind::None || (kind == OperandKind::Null && k != kDst) ||
        (kind == OperandKind::Immediate && k == kDst))
      return std::nullopt;
    for (int other = 0; other < k; ++other) // one place that two operands move on
      if (kind == operands[other]->kind &&
          ((kind == OperandKind::Fifo && operands[k]->buffer == operands[other]->buffer) ||
           (kind == OperandKind::Queue && operands[k]->queue == operands[other]->queue)))
        return std::nullopt;
    op.mayAlias[k] = k != kDst && kind == OperandKind::Memory && instruction.dst.kind == OperandKind::Memory &&
                     mayShareMemory(role, operands[k]->buffer, instruction.dst.buffer);
  }
  if (op.readsDst && instruction.dst.kind != OperandKind::Memory)
    return std::nullopt;
  const ElementType types[3] = {instruction.type, operandType(instruction, OperandSlot::A),
                                operandType(instruction, OperandSlot::B)};
  for (int k = 0; k < 3; ++k)
    op.bytes[k] = elementBytes(types[k]);
  op.toBool = instruction.type == ElementType::Bool;

  if (opcode == Opcode::Gather || opcode == Opcode::Scatter) {
    if ((opcode == Opcode::Gather ? instruction.a : instruction.dst).kind != OperandKind::Memory)
      return std::nullopt;
    op.kind = opcode == Opcode::Gather ? RowOp::Kind::Gather : RowOp::Kind::Scatter;
    return op;
  }
  if (opcode == Opcode::Move && !op.toBool) {
    op.kind = RowOp::Kind::Copy;
    return op;
  }
  if (opcode == Opcode::Move || opcode == Opcode::Convert) {
    const ElementType from = opcode == Opcode::Move ? ElementType::Bool : instruction.sourceType;
    const ElementType value = opcode == Opcode::Move ? from : valueType(from);
    if (value != from)
      op.widen[kA] = kernels.convert(from, value);
    op.compute = kernels.convert(value, instruction.type);
    return op;
  }
  // What sources are widened to and dst narrowed from. Comparisons compute in the sources' type, the others convert
  // mixed sources to the result's.
  const bool compares = opcode == Opcode::CompareEq || opcode == Opcode::CompareLt || opcode == Opcode::CompareLe;
  const ElementType value =
      worksOnBits(opcode) ? bitStorage(instruction.type) : valueType(compares ? types[kA] : instruction.type);
  const ElementType computing = worksOnBits(opcode) ? bitType(opcode, value) : value;
  op.compute = kernels.array(opcode, computing, false);
  op.computeScalarB = kernels.array(opcode, computing, true);
  op.chain = kernels.chain(opcode, computing);
  if (!op.compute)
    return std::nullopt;
  if (types[kA] != value)
    op.widen[kA] = op.widen[kB] = kernels.convert(types[kA], value);
  if (instruction.type != value) {
    op.narrow = kernels.convert(value, instruction.type);
    if (op.readsDst)
      op.widen[kDst] = kernels.convert(instruction.type, value);
    op.chainIsStored = op.chain && numerics::isFloat(instruction.type); // rounded at every step
    if (op.chainIsStored)
      op.chain = kernels.chain(opcode, instruction.type);
  }
  return op;
}

ArrayOp singleKernel(const RowOp &op, const RowShape &shape) {
  const auto packed = [&](int k) { return shape.extent[3] == 1 || shape.stride[k][3] == op.bytes[k]; };
  const bool row = shape.extent[0] == 1 && shape.extent[1] == 1 && shape.extent[2] == 1;
  if (!row || shape.freeDims != kMaxDims || !packed(kDst) || op.widen[kDst] || op.widen[kA] || op.narrow)
    return nullptr;
  if (op.kind == RowOp::Kind::Copy && shape.stride[kA][3] == 0 && shape.extent[3] > 1)
    return fillPacked(op.bytes[kDst]);
  if (!packed(kA))
    return nullptr;
  if (op.kind == RowOp::Kind::Copy)
    return copyPacked(op.bytes[kDst]);
  if (op.kind != RowOp::Kind::Compute)
    return nullptr;
  if (!op.usesB || packed(kB))
    return op.compute;
  return shape.stride[kB][3] == 0 ? op.computeScalarB : nullptr;
}

void runRows(const RowOp &op, const RowShape &shape, std::byte *dst, const std::byte *a, const std::byte *b,
             const IndexedPlace &indexed) {
  if (shape.elements > 0 && dst)
    Runner(op, shape).run(dst, a, b, indexed);
}

} // namespace wsc::emulator
