// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/TensorFlow.md's list of operators is the table's, and its list of missing ones is what the table has not of
// TensorFlow's XLA bridge. WSC_UPDATE=1 writes both.
#include "compiler/import/tf/Registry.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace {

const std::string path = std::string(WSC_SOURCE_DIR) + "/docs/TensorFlow.md";
const std::string begin = "<!-- operators -->\n", end = "<!-- end of operators -->\n";

const std::string beginMissing = "<!-- missing -->\n", endMissing = "<!-- end of missing -->\n";

/// What TensorFlow's XLA bridge legalises, without collectives, infeeds, embeddings of TPUs and XLA's own operators.
const char *const bridge =
    "Abs Acos Acosh AddN AddV2 AdjustContrastv2 AdjustHue AdjustSaturation All Angle Any ApproxTopK "
    "ApproximateEqual ArgMax ArgMin Asin Asinh Assert Atan Atan2 Atanh AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad "
    "BatchMatMulV2 BatchMatMulV3 BatchToSpace BatchToSpaceND BesselI0e BesselI1e Betainc BiasAdd BiasAddGrad "
    "Bitcast BitwiseAnd BitwiseOr BitwiseXor BroadcastTo Bucketize Case Cast Ceil CheckNumerics Cholesky "
    "ClipByValue Complex ComplexAbs ConcatV2 Conj ConjugateTranspose Const Conv Conv2D Conv2DBackpropFilter "
    "Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 Cos Cosh Cross Cumprod Cumsum "
    "CumulativeLogsumexp DataFormatDimMap DataFormatVecPermute DepthToSpace DepthwiseConv2dNative "
    "DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Diag DiagPart Digamma Div DivNoNan "
    "DynamicPartition DynamicStitch Einsum Elu EluGrad Empty EnsureShape Equal Erf Erfc Erfinv Exp ExpandDims Expm1 "
    "ExtractImagePatches FFT FFT2D FFT3D FakeParam FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient "
    "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel "
    "FakeQuantWithMinMaxVarsPerChannelGradient Fill Floor FloorDiv FloorMod FusedBatchNorm FusedBatchNormGrad "
    "FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 GatherNd GatherV2 Greater "
    "GreaterEqual HSVToRGB IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Identity IdentityN If Igamma IgammaGradA "
    "Igammac Imag InTopKV2 InplaceAdd InplaceUpdate Inv Invert InvertPermutation IsFinite IsInf IsNan "
    "KthOrderStatistic L2Loss LRN LRNGrad LeakyRelu LeakyReluGrad LeftShift LegacyCall Less LessEqual Lgamma "
    "LinSpace ListDiff Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr LowerBound MakeUnique MatMul "
    "MatrixBandPart MatrixDiagPartV3 MatrixDiagV3 MatrixInverse MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve "
    "Max MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad Maximum Mean Min Minimum "
    "MirrorPad MirrorPadGrad Mod Mul MulNoNan Multinomial Ndtri Neg NextAfter NonMaxSuppressionV4 NotEqual OneHot "
    "OnesLike Pack Pad PadV2 ParallelDynamicStitch ParameterizedTruncatedNormal PartitionedCall "
    "PlaceholderWithDefault Polygamma PopulationCount Pow PreventGradient Prod Qr QuantizeAndDequantize "
    "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 RFFT RFFT2D RFFT3D RGBToHSV "
    "RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt Range Real RealDiv Reciprocal ReciprocalGrad "
    "Relu Relu6 Relu6Grad ReluGrad Reshape ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor "
    "ResizeNearestNeighborGrad ReverseSequence ReverseV2 RightShift Rint Roll Round Rsqrt RsqrtGrad ScatterNd "
    "SegmentMaxV2 SegmentMinV2 SegmentProdV2 SegmentSumV2 Select SelectV2 SelfAdjointEigV2 Selu SeluGrad Shape "
    "Sigmoid SigmoidGrad Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad "
    "Softsign SoftsignGrad SpaceToBatch SpaceToBatchND SpaceToDepth SparseMatMul "
    "SparseSoftmaxCrossEntropyWithLogits SparseToDense Split SplitV Sqrt SqrtGrad Square SquaredDifference Squeeze "
    "StatefulPartitionedCall StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomGetAlg "
    "StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomNormal StatelessRandomNormalV2 "
    "StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomUniformInt "
    "StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 "
    "StopGradient StridedSlice StridedSliceGrad Sub Sum Svd Tan Tanh TanhGrad TensorScatterAdd TensorScatterSub "
    "TensorScatterUpdate Tile TopKUnique TopKV2 TopKWithUnique Transpose TridiagonalMatMul TridiagonalSolve "
    "TruncateDiv TruncateMod TruncatedNormal Unique Unpack UnsortedSegmentMax UnsortedSegmentMin "
    "UnsortedSegmentProd UnsortedSegmentSum UpperBound Where While Xdivy Xlog1py Xlogy ZerosLike Zeta _FusedConv2D "
    "_UnaryOpsComposition";

/// Puts `text` between two marks of the page, or compares it with what is there.
void checkSection(const std::string &begin, const std::string &end, const std::string &text) {
  std::stringstream buffer;
  buffer << std::ifstream(path).rdbuf();
  const std::string page = buffer.str();
  const size_t first = page.find(begin), last = page.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  if (std::getenv("WSC_UPDATE"))
    std::ofstream(path) << page.substr(0, first + begin.size()) << text << page.substr(last);
  else
    EXPECT_EQ(page.substr(first + begin.size(), last - first - begin.size()), text)
        << "run import-tf-support-test with WSC_UPDATE=1";
}

TEST(TfSupport, PageListsWhatIsMissing) {
  std::stringstream names(bridge);
  std::string name, line, missing;
  int count = 0, missed = 0;
  for (; names >> name; ++count)
    if (!wsc::import::tf::findOperator(name)) {
      if (missed++)
        line += ",";
      if (line.size() + name.size() > 110) {
        missing += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "`" : " `") + name + "`";
    }
  checkSection(beginMissing, endMissing,
               "Of the bridge's " + std::to_string(count) + " operators " + std::to_string(missed) + " are missing:\n" +
                   missing + line + "\n");
}

TEST(TfSupport, PageListsTheTable) { checkSection(begin, end, wsc::import::tf::supportPage()); }

TEST(TfSupport, NamesAreUnique) {
  std::set<std::string> seen;
  for (const auto &family : wsc::import::tf::families())
    for (const auto &op : family.operators) {
      EXPECT_TRUE(seen.insert(op.name).second) << op.name;
      EXPECT_LE(op.minInputs, op.maxInputs) << op.name;
    }
}

} // namespace
