// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/Tiling.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace wsc::kernels {

namespace {
constexpr int64_t kMostBlocks = 8;
// No receiver should have to let more than this many words pass for the part of a tile that it needs.
constexpr int64_t kWordsPassing = 3072;

int64_t numComponents(const KernelSpec &spec) {
  int64_t count = 0;
  for (const KernelInput &input : spec.inputs)
    count += int64_t(input.streams.size());
  return count;
}

// The variable on whose cores the stream's producer lies, if any.
const VariablePlan *variableOf(const NetworkPlan &network, const StreamPlan &stream) {
  if (stream.producer < 0 || !network.kernels[stream.producer].spec.state)
    return nullptr;
  return &network.variables[network.kernels[stream.producer].spec.state->variable];
}
} // namespace

// Rows in use at least.
static int64_t fewestRows(const target::Target &target) { return std::max<int64_t>(1, target.rows * 9 / 10); }

int64_t rowsForTiles(const target::Target &target, const std::multiset<int64_t> &counts) {
  int64_t best = target.rows;
  double bestScore = -1;
  for (int64_t rows = target.rows; rows >= fewestRows(target); --rows) {
    double score = double(rows) / double(target.rows);
    int64_t even = 0;
    for (int64_t count : counts)
      even += rows % count == 0 || (2 * rows) % count == 0;
    score += 0.2 * double(even) / double(counts.size());
    if (score > bestScore) {
      bestScore = score;
      best = rows;
    }
  }
  return best;
}

int64_t inputRowsFor(const KernelSpec &spec, int64_t outRows, int64_t inputRows) {
  int64_t rows = outRows;
  if (spec.kind == KernelKind::Contraction)
    rows = (outRows - 1) * spec.contraction.strideH + (spec.contraction.kernelH - 1) * spec.contraction.dilationH + 1;
  else if (spec.kind == KernelKind::Window)
    rows = (outRows - 1) * spec.window.strideH + (spec.window.kernelH - 1) * spec.window.dilationH + 1;
  return std::min(rows, inputRows);
}

static int64_t padTopOf(const KernelSpec &spec) {
  return spec.kind == KernelKind::Contraction ? spec.contraction.padTop
         : spec.kind == KernelKind::Window    ? spec.window.padTop
                                              : 0;
}

// One past the last input row that output rows [0, outRows) touch.
static int64_t inputEnd(const KernelSpec &spec, int64_t outRows, int64_t inputRows) {
  const int64_t padTop = padTopOf(spec);
  return std::clamp<int64_t>(inputRowsFor(spec, outRows, inputRows + padTop) - padTop, 1, inputRows);
}

void findLiveRows(NetworkPlan &network) {
  auto find = [&](StreamPlan &stream) {
    int64_t live = stream.outputs.empty() ? 1 : stream.layout.plane.rows;
    for (int32_t consumer : stream.consumers) {
      const KernelSpec &spec = network.kernels[consumer].spec;
      live =
          std::max(live, inputEnd(spec, network.streams[spec.outStream].layout.liveRows(), stream.layout.plane.rows));
    }
    if (stream.producer >= 0 && network.kernels[stream.producer].spec.state)
      live = stream.layout.plane.rows; // a variable keeps all its rows
    stream.layout.deadFrom = live < stream.layout.plane.rows ? live : 0;
  };
  for (size_t k = network.kernels.size(); k-- > 0;)
    find(network.streams[network.kernels[k].spec.outStream]);
  for (StreamPlan &stream : network.streams)
    if (stream.producer < 0)
      find(stream);
}

// Input rows between two output rows.
static int64_t rowStride(const KernelSpec &spec) {
  return spec.kind == KernelKind::Contraction ? spec.contraction.strideH
         : spec.kind == KernelKind::Window    ? spec.window.strideH
                                              : 1;
}

namespace {

// The tensors' tiles as pitches see them.
class Pitches {
public:
  explicit Pitches(const NetworkPlan &network) {
    std::vector<int64_t> scale(network.streams.size(), 1);
    for (const KernelPlan &plan : network.kernels)
      if (!plan.spec.inputs.empty())
        scale[plan.spec.outStream] = std::min(kMostScale, scale[plan.spec.inputs.front().streams.front()] *
                                                              std::min(kMostScale, rowStride(plan.spec)));
    for (size_t s = 0; s < network.streams.size(); ++s) {
      const StreamLayout &layout = network.streams[s].layout;
      all.push_back({layout.numTiles(), scale[s] * layout.tileRows, scale[s] * layout.liveRows()});
      tallest = std::max(tallest, layout.liveRows() * scale[s]);
    }
  }

  // How good the best height for `rows` wafer rows is, and the height: rows of the network's inputs that they stand
  // for; 0: every tensor is spread over all of them.
  std::pair<double, int64_t> best(int64_t rows) const {
    std::pair<double, int64_t> result{score(rows, 0), 0};
    for (int64_t height = tallest; height <= tallest + std::min(tallest / kIdlePart, kMostIdle); ++height)
      if (double s = score(rows, height); s > result.first)
        result = {s, height};
    return result;
  }

  std::map<int64_t, RowGrid::Pitch> of(int64_t height) const {
    std::map<int64_t, RowGrid::Pitch> pitches;
    for (const Tiles &tiles : all)
      if (tiles.count * tiles.step != height && (hasPitch(tiles, height) || hasShorterLast(tiles, height))) {
        const int64_t common = std::gcd(height, tiles.step);
        pitches.try_emplace(tiles.count, RowGrid::Pitch{height / common, tiles.step / common});
      }
    return pitches;
  }

private:
  struct Tiles {
    int64_t count = 1, step = 1; // rows of the network's inputs from one tile to the next
    int64_t rows = 1;            // of all tiles together: the last may be shorter
  };
  // A pitch may leave this part of a tensor's rows idle. Heights are looked for not farther than so many rows above the
  // tallest tensor; strides together beyond the last number leave no rows on any mesh.
  static constexpr int64_t kIdlePart = 12, kMostIdle = 64, kMostScale = int64_t(1) << 20;

  static bool hasPitch(const Tiles &tiles, int64_t height) {
    return tiles.count > 1 && tiles.count * tiles.step <= height &&
           (height - tiles.count * tiles.step) * kIdlePart <= height;
  }

  // A last tile that is shorter may have half as many wafer rows as the others.
  static bool hasShorterLast(const Tiles &tiles, int64_t height) {
    const int64_t last = height - (tiles.count - 1) * tiles.step;
    return tiles.count > 1 && tiles.count * tiles.step > height && tiles.rows <= height &&
           (height - tiles.rows) * kIdlePart <= height && 2 * last >= tiles.step;
  }

  // Rows that are of use; tensors whose tiles begin at regular rows, every one or every other; tensors whose tiles do
  // not drift against the others'.
  double score(int64_t rows, int64_t height) const {
    double score = 0;
    for (const Tiles &tiles : all) {
      const bool pitched = hasPitch(tiles, height), whole = tiles.count * tiles.step >= tallest;
      const int64_t step = pitched ? rows * tiles.step : rows, per = pitched ? height : tiles.count;
      score += pitched ? double(tiles.count * tiles.step) / double(height) : 1;
      score += step % per == 0 ? 0.2 : 2 * step % per == 0 ? 0.1 : 0;
      score += pitched || tiles.count == 1 || (height == 0 && whole) ? 0.1 : 0;
    }
    return score / double(all.size());
  }

  std::vector<Tiles> all; // by stream
  int64_t tallest = 1;
};

} // namespace

// Input rows from the middle of an output row's place, where both begin at the same height, to the middle of the rows
// that it needs.
static double middleOfWindow(const KernelSpec &spec) {
  auto middle = [](const auto &w) { return double((w.kernelH - 1) * w.dilationH + 1 - w.strideH - 2 * w.padTop) / 2; };
  return spec.kind == KernelKind::Contraction ? middle(spec.contraction)
         : spec.kind == KernelKind::Window    ? middle(spec.window)
                                              : 0;
}

// Tensors of one number of tiles have one offset, that of the first.
static std::map<int64_t, int64_t> offsetsOf(const NetworkPlan &network) {
  const RowGrid &grid = network.grid;
  auto rowsPerTile = [&](int64_t tiles) {
    const RowGrid::Pitch pitch = grid.pitch(tiles);
    return double(grid.rowsUsed * pitch.per) / double(pitch.groups);
  };
  std::vector<double> middle(network.streams.size(), 0);
  double least = 0;
  for (const KernelPlan &plan : network.kernels) {
    if (plan.spec.inputs.empty())
      continue;
    const int32_t from = plan.spec.inputs.front().streams.front();
    const StreamLayout &in = network.streams[from].layout, &out = network.streams[plan.spec.outStream].layout;
    const double imageRow = rowsPerTile(in.numTiles()) / double(in.tileRows);
    middle[plan.spec.outStream] = out.numTiles() > 1 ? middle[from] + imageRow * middleOfWindow(plan.spec) : 0;
    least = std::min(least, middle[plan.spec.outStream]);
  }
  const double base = std::min(-least, double(*grid.rowsSpare));
  std::map<int64_t, int64_t> offsets;
  for (size_t s = 0; s < network.streams.size(); ++s) {
    const StreamLayout &layout = network.streams[s].layout;
    const int64_t tiles = layout.numTiles();
    const double height = rowsPerTile(tiles) * double(layout.liveRows()) / double(layout.tileRows);
    const double room = double(grid.rowsUsed + *grid.rowsSpare) - std::ceil(height);
    if (tiles > 1)
      offsets.try_emplace(tiles, int64_t(std::clamp(std::floor(middle[s] + base + 0.5), 0.0, std::max(0.0, room))));
  }
  return offsets;
}

void findPitches(NetworkPlan &network) {
  network.grid.pitches.clear();
  network.grid.offsets.clear();
  if (!network.variables.empty())
    return;
  const Pitches pitches(network);
  network.grid.pitches = pitches.of(pitches.best(network.grid.rowsUsed).second);
  if (network.grid.rowsSpare)
    network.grid.offsets = offsetsOf(network);
}

static int64_t chooseRowsUsed(const target::Target &target, const NetworkPlan &network) {
  const Pitches pitches(network);
  int64_t best = target.rows;
  double bestScore = -1;
  for (int64_t rows = target.rows; rows >= fewestRows(target); --rows)
    if (double score = double(rows) / double(target.rows) + pitches.best(rows).first; score > bestScore) {
      bestScore = score;
      best = rows;
    }
  return best;
}

// Most live rows in succession that no receiver takes, as a stride beyond the kernel or a slice leaves them: a tile
// must have one more, or its lane would end nowhere.
static int64_t rowsSkipped(const NetworkPlan &network, const StreamPlan &stream) {
  if (!stream.outputs.empty() || stream.consumers.empty())
    return 0;
  const int64_t rows = stream.layout.liveRows();
  std::vector<bool> taken(size_t(rows), false);
  for (int32_t consumer : stream.consumers) {
    const KernelSpec &spec = network.kernels[consumer].spec;
    const int64_t window = inputRowsFor(spec, 1, INT64_MAX), stride = rowStride(spec), padTop = padTopOf(spec);
    for (int64_t out = 0; out < network.streams[spec.outStream].layout.liveRows(); ++out)
      for (int64_t row = std::max<int64_t>(0, out * stride - padTop);
           row < std::min(rows, out * stride - padTop + window); ++row)
        taken[size_t(row)] = true;
    if (stream.layout.plane.rows == 1 && spec.kind != KernelKind::Window && spec.kind != KernelKind::Contraction)
      taken[0] = true; // for all rows
  }
  int64_t most = 0, run = 0;
  for (bool here : taken) {
    run = here ? 0 : run + 1;
    most = std::max(most, run);
  }
  return most;
}

// Whether each channel is taken by some receiver.
static bool takesAllChannels(const NetworkPlan &network, const StreamPlan &stream) {
  std::vector<bool> taken(size_t(stream.layout.plane.channels), !stream.outputs.empty());
  for (int32_t consumer : stream.consumers) {
    const KernelSpec &spec = network.kernels[consumer].spec;
    for (const KernelInput &input : spec.inputs) {
      int64_t offset = 0;
      for (int32_t component : input.streams) {
        const int64_t channels = network.streams[component].layout.plane.channels;
        const bool slices = spec.kind == KernelKind::Window && spec.window.kind == Window::Kind::Copy;
        const int64_t begin = slices ? spec.window.firstChannel : 0,
                      end = slices ? begin + spec.out.channels : INT64_MAX;
        if (&network.streams[component] == &stream)
          for (int64_t c = std::max<int64_t>(0, begin - offset); c < std::min(channels, end - offset); ++c)
            taken[size_t(c)] = true;
        offset += input.alongWidth ? 0 : channels;
      }
    }
  }
  return stream.consumers.empty() || std::find(taken.begin(), taken.end(), false) == taken.end();
}

// Blocks of a stream that leave a receiver's slices, which may straddle several, with few enough lanes for its queues.
static int64_t blocksForQueues(const target::Target &target, const NetworkPlan &network, const StreamPlan &stream,
                               int32_t consumer) {
  const KernelSpec &spec = network.kernels[consumer].spec;
  const StreamLayout &in = stream.layout, &out = network.streams[spec.outStream].layout;
  int64_t touched = tilesTouched(inputRowsFor(spec, out.tileRows, in.liveRows()), in.tileRows, in.liveRows());
  int64_t allowed = int64_t(target.inputQueueWords.size()) / std::max<int64_t>(1, touched * numComponents(spec));
  int64_t channels = in.plane.channels;
  if (spec.kind == KernelKind::Softmax || allowed < 2)
    return std::max<int64_t>(1, allowed);
  int64_t slice = ceilDiv(channels, std::max<int64_t>(1, target.rows / out.numTiles()));
  int64_t blockChannels = ceilDiv(slice - 1, allowed - 1); // a run of `slice` channels then meets at most `allowed`
  return channels / std::max<int64_t>(1, blockChannels);
}

// Blocks of a stream for which colours suffice where each goes to a column of its own: the lanes of one tile pass the
// columns before theirs there, and so cross the branches of all others that end near them, those of all the tiles that
// one receiver takes; so do the lanes that the receiver makes. Rounded up, for the first column's lanes pass none.
static int64_t blocksForColours(const target::Target &target, const NetworkPlan &network, const StreamPlan &stream,
                                int32_t consumer, int64_t colourShare) {
  const KernelSpec &spec = network.kernels[consumer].spec;
  if (spec.kind == KernelKind::Contraction)
    return kMostBlocks;
  const StreamLayout &in = stream.layout, &out = network.streams[spec.outStream].layout;
  const int64_t touched = tilesTouched(inputRowsFor(spec, out.tileRows, in.liveRows()), in.tileRows, in.liveRows());
  return ceilDiv(target.usableColours() * colourShare / 100, touched + 1);
}

// The streams that are joined with this one along their width, itself included: their lanes leave on the same rows.
static int64_t streamsBeside(const NetworkPlan &network, const StreamPlan &stream) {
  size_t most = 1;
  for (int32_t consumer : stream.consumers)
    for (const KernelInput &input : network.kernels[size_t(consumer)].spec.inputs)
      if (input.alongWidth)
        most = std::max(most, input.streams.size());
  return int64_t(most);
}

absl::Status chooseTiles(const target::Target &target, NetworkPlan &network, const Variant &variant,
                         int64_t leavingWords) {
  int64_t queues = int64_t(target.inputQueueWords.size());
  findLiveRows(network);
  // Kernels are in dataflow order, so a stream's consumers come after its producer: go backwards.
  auto tile = [&](StreamPlan &stream) -> absl::Status {
    StreamLayout &layout = stream.layout;
    int64_t rows = layout.liveRows();
    const int64_t skipped = rowsSkipped(network, stream);
    if (skipped >= rows)
      return absl::InvalidArgumentError(absl::StrCat("no layer takes any row of ", stream.name,
                                                     ": what is kept of the layers behind it is padding only"));
    layout.tileRows = std::max(ceilDiv(rows, target.rows), skipped + 1);
    const StreamWish wish = variant.wishFor(&stream - network.streams.data());
    const int64_t colourShare = wish.colourShare > 0 ? wish.colourShare : variant.colourShare;
    layout.tileRows = std::min(layout.tileRows + wish.moreTileRows, std::max(layout.tileRows, rows));
    const VariablePlan *variable = variableOf(network, stream);
    if (variable)
      layout.tileRows = variable->tileRows;
    int64_t lanes = 1, lanesWorst = 0, mostPassing = 0; // with one block
    for (;; ++layout.tileRows) {
      lanes = 1;
      lanesWorst = mostPassing = 0;
      bool fits = true;
      for (int32_t consumer : stream.consumers) {
        const KernelSpec &spec = network.kernels[consumer].spec;
        int64_t needed = inputRowsFor(spec, network.streams[spec.outStream].layout.tileRows, rows);
        int64_t touched = tilesTouched(needed, layout.tileRows, rows);
        lanes = std::max(lanes, touched);
        lanesWorst = std::max(lanesWorst, touched * numComponents(spec));
        // Where a receiver would see many words pass, leave it queues for channel blocks.
        int64_t passing = needed * layout.plane.width * layout.plane.channels;
        mostPassing = std::max(mostPassing, touched * layout.tileRows * layout.plane.width * layout.plane.channels);
        int64_t straddled = passing > 5 * variant.wordsPerLane && stream.outputs.empty() ? 2 : 1;
        fits &= touched * straddled * numComponents(spec) <= queues;
      }
      if (fits || variable || layout.tileRows >= rows)
        break;
    }
    layout.orderModulus = lanes;
    // Channel blocks divide the words of a lane where every receiver has the queues for it: its channels may straddle
    // two blocks.
    bool divisible = !layout.silent && 2 * lanesWorst <= queues && takesAllChannels(network, stream) &&
                     (!stream.input || stream.input->channelInner == 1);
    for (const StreamPlan::Host &host : stream.outputs)
      divisible &= host.channelInner == 1;
    if (lanesWorst > queues)
      return absl::ResourceExhaustedError(absl::StrCat("a receiver of ", stream.name, " takes ", lanesWorst,
                                                       " lanes, a core has ", queues, " input queues"));
    int64_t words = layout.plane.channels * layout.tileRows * layout.plane.width;
    // The blocks of all the tiles a receiver takes cross in its column, each with a colour, but each on a part of its
    // height only: about half of them meet.
    int64_t most =
        std::min({kMostBlocks, layout.plane.channels,
                  target.usableColours() * 2 * colourShare / 3 / 100 / std::max<int64_t>(1, (lanesWorst + 1) / 2)});
    for (int32_t consumer : stream.consumers)
      most = std::min({most, blocksForQueues(target, network, stream, consumer),
                       blocksForColours(target, network, stream, consumer, colourShare)});
    layout.mostBlocks = divisible ? std::max<int64_t>(1, most) : 1;
    layout.wordsPassing = mostPassing;
    const bool leavesApart = leavingWords > 0 && lanes == 1 && stream.producer >= 0 &&
                             network.kernels[size_t(stream.producer)].spec.kind == KernelKind::Contraction;
    const int64_t perLane = leavesApart ? std::min(variant.wordsPerLane, leavingWords) : variant.wordsPerLane;
    const int64_t wanted = std::max(words * streamsBeside(network, stream) / perLane, mostPassing / kWordsPassing);
    layout.wantedBlocks = std::clamp<int64_t>(wish.blocks > 0 ? wish.blocks : wanted, 1, layout.mostBlocks);
    return absl::OkStatus();
  };
  for (size_t k = network.kernels.size(); k-- > 0;)
    if (auto status = tile(network.streams[network.kernels[k].spec.outStream]); !status.ok())
      return status;
  for (StreamPlan &stream : network.streams)
    if (stream.producer < 0)
      if (auto status = tile(stream); !status.ok())
        return status;
  // Variables lie at the same height in all functions.
  network.grid.rowsUsed = !network.variables.empty() ? network.variables.front().rows
                          : variant.rowsUsed > 0     ? variant.rowsUsed
                                                     : chooseRowsUsed(target, network);
  network.grid.rowsSpare.reset();
  if (variant.centred && network.variables.empty())
    network.grid.rowsSpare = target.rows - network.grid.rowsUsed;
  findPitches(network);
  return absl::OkStatus();
}

} // namespace wsc::kernels
