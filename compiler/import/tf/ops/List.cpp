// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorArray (control flow v1, whose flow carries the elements) and TensorList (v2). Indices and lengths are known
// while importing: loops are executed turn by turn. An element never written is zeros where its shape is known.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/Types.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

constexpr int64_t mostElements = 65536;

/// Extents all of which are known, else nothing.
std::optional<Extents> known(const std::optional<std::vector<int64_t>> &extents) {
  if (!extents)
    return std::nullopt;
  for (int64_t extent : *extents)
    if (extent < 0)
      return std::nullopt;
  return Extents(extents->begin(), extents->end());
}

/// An element shape given as a tensor: a list of extents, or -1 for an unknown rank.
std::optional<Extents> shapeIn(NodeContext &node, size_t i) {
  if (node.failed() || i >= node.inputCount() || !node.value(i).tensor)
    return std::nullopt;
  auto literal = node.layers.literal(node.value(i).tensor);
  if (!literal || literal->isFloat() || literal->type.getRank() != 1)
    return std::nullopt;
  return known(literal->ints);
}

List emptyList(NodeContext &node, int64_t count, const char *typeName, std::optional<Extents> shape) {
  List list;
  list.element = node.typeAttribute(typeName, wsc::tf::DT_FLOAT);
  if (count < 0 || count > mostElements)
    node.fail(absl::StrCat("a list of ", count, " tensors is outside [0, ", mostElements, "]"));
  else
    list.elements.resize(count);
  list.shape = std::move(shape);
  return list;
}

/// Element `index`; zeros where it was never written.
Expression elementOf(NodeContext &node, const List &list, int64_t index) {
  Expression nothing{node.layers, {}};
  if (node.failed())
    return nothing;
  if (index < 0 || index >= static_cast<int64_t>(list.elements.size())) {
    node.fail(absl::StrCat("index ", index, " is outside [0, ", list.elements.size(), ")"));
    return nothing;
  }
  if (list.elements[index])
    return {node.layers, list.elements[index]};
  std::optional<Extents> shape = list.shape;
  for (const Tensor &other : list.elements)
    if (!shape && other)
      shape = Extents(other.shape());
  if (!shape || !list.element) {
    node.fail(absl::StrCat("element ", index, " was never written, and its shape is not known"));
    return nothing;
  }
  return Expression(node.layers, node.layers.scalar(list.element, 0)).broadcast(*shape);
}

/// All elements, or those of the indices, along a new first axis.
Expression stacked(NodeContext &node, const List &list, const std::vector<int64_t> *indices = nullptr) {
  std::vector<Expression> parts;
  const size_t count = indices ? indices->size() : list.elements.size();
  for (size_t i = 0; i < count && !node.failed(); ++i)
    parts.push_back(elementOf(node, list, indices ? (*indices)[i] : static_cast<int64_t>(i)).unsqueeze(0));
  if (node.failed())
    return {node.layers, {}};
  if (!parts.empty())
    return parts.size() == 1 ? parts[0] : concat(parts, 0);
  if (!list.shape || !list.element) {
    node.fail("stacks a list without elements, whose shape is not known");
    return {node.layers, {}};
  }
  Extents shape{0};
  shape.append(*list.shape);
  return {node.layers, node.layers.fromLiteral(Literal::zeros(mlir::RankedTensorType::get(shape, list.element)))};
}

/// The rows of a tensor as elements, of which a list holds up to mostElements.
std::vector<Tensor> rowsOf(const Expression &x) {
  std::vector<Tensor> rows;
  if (x.rank() > 0 && x.shape()[0] > mostElements)
    x.layers().fail(absl::StrCat("has ", x.shape()[0], " rows; a list holds at most ", mostElements, " elements"));
  for (int64_t i = 0; i < (x.rank() > 0 ? x.shape()[0] : 0) && !x.layers().failed(); ++i)
    rows.push_back(x.slice(0, i, 1).squeeze(0));
  return rows;
}

void setElement(NodeContext &node, List list, int64_t index, const Tensor &value, bool grows, size_t result = 0) {
  if (node.failed())
    return;
  if (index < 0 || index >= (grows ? mostElements : static_cast<int64_t>(list.elements.size())))
    return node.fail(absl::StrCat("index ", index, " is outside [0, ", list.elements.size(), ")"));
  if (index >= static_cast<int64_t>(list.elements.size()))
    list.elements.resize(index + 1);
  list.elements[index] = value;
  node.setResult(result, Value(std::move(list)));
}

// TensorArray: handle, …, flow.

void arrayOf(NodeContext &node) {
  node.ignoreAttributes({"dynamic_size", "clear_after_read", "identical_element_shapes", "tensor_array_name"});
  const wsc::tf::AttrValue *shape = node.find("element_shape");
  int64_t count = node.constantInt(0, "the size");
  if (node.failed())
    return;
  List list =
      emptyList(node, count, "dtype", shape && shape->has_shape() ? known(extentsOf(shape->shape())) : std::nullopt);
  node.setResult(0, Value(list));
  node.setResult(1, Value(list));
}

void arrayWrite(NodeContext &node) {
  int64_t index = node.constantInt(1, "the index");
  const List *list = node.list(3);
  Tensor value = node.input(2);
  if (!node.failed())
    setElement(node, *list, index, value, /*grows=*/true);
}

void arrayRead(NodeContext &node) {
  int64_t index = node.constantInt(1, "the index");
  if (const List *list = node.list(2))
    node.setResult(elementOf(node, *list, index));
}

void arrayGather(NodeContext &node) {
  node.ignoreAttributes({"element_shape"});
  std::vector<int64_t> indices = node.constantInts(1, "the indices");
  if (const List *list = node.list(2))
    node.setResult(stacked(node, *list, &indices));
}

void arrayScatter(NodeContext &node) {
  std::vector<int64_t> indices = node.constantInts(1, "the indices");
  const List *before = node.list(3);
  Expression value = node.in(2);
  if (node.failed())
    return;
  std::vector<Tensor> rows = rowsOf(value);
  if (rows.size() != indices.size())
    return node.fail(absl::StrCat("has ", indices.size(), " indices for ", rows.size(), " rows"));
  List list = *before;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= mostElements)
      return node.fail(absl::StrCat("index ", indices[i], " is outside [0, ", mostElements, ")"));
    if (indices[i] >= static_cast<int64_t>(list.elements.size()))
      list.elements.resize(indices[i] + 1);
    list.elements[indices[i]] = rows[i];
  }
  node.setResult(Value(std::move(list)));
}

void arraySize(NodeContext &node) {
  if (const List *list = node.list(1))
    node.setResult(Value(node.layers.scalar(node.i32(), static_cast<double>(list->elements.size()))));
}

/// The elements one after another along their first axis, and their lengths.
void joinElements(NodeContext &node, const List &list) {
  std::vector<Expression> parts;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < list.elements.size() && !node.failed(); ++i) {
    parts.push_back(elementOf(node, list, static_cast<int64_t>(i)));
    lengths.push_back(parts.back().rank() > 0 ? parts.back().shape()[0] : 0);
  }
  if (node.failed() || parts.empty())
    return node.failed() ? void() : node.fail("joins no elements");
  node.setResult(0, parts.size() == 1 ? parts[0] : concat(parts, 0));
  node.setResult(1, node.integers(lengths, node.i64()));
}

void arrayConcat(NodeContext &node) {
  node.ignoreAttributes({"element_shape_except0"});
  if (const List *list = node.list(1))
    joinElements(node, *list);
}

/// Parts of the first axis, by their lengths, as elements from `list`'s first on.
void splitInto(NodeContext &node, List list, const Expression &value, const std::vector<int64_t> &lengths) {
  int64_t at = 0;
  list.elements.clear();
  for (int64_t length : lengths) {
    if (node.failed() || value.rank() < 1 || length < 0 || at > value.shape()[0] - length)
      return node.fail(
          absl::StrCat("lengths ", nn::formatShape(lengths), " do not divide ", nn::formatShape(value.shape())));
    list.elements.push_back(value.slice(0, at, length));
    at += length;
  }
  if (!node.failed())
    node.setResult(Value(std::move(list)));
}

void arraySplit(NodeContext &node) {
  std::vector<int64_t> lengths = node.constantInts(2, "the lengths");
  const List *list = node.list(3);
  Expression value = node.in(1);
  if (!node.failed())
    splitInto(node, *list, value, lengths);
}

void arrayClose(NodeContext &) {}

// TensorList: the list itself is the value.

void listReserve(NodeContext &node) {
  int64_t count = node.constantInt(1, "the number of elements");
  if (!node.failed())
    node.setResult(Value(emptyList(node, count, "element_dtype", shapeIn(node, 0))));
}
void listEmpty(NodeContext &node) { node.setResult(Value(emptyList(node, 0, "element_dtype", shapeIn(node, 0)))); }

void listFromTensor(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  List list;
  list.element = x.elementType();
  list.elements = rowsOf(x);
  if (x.rank() > 0)
    list.shape = Extents(x.shape().drop_front(1));
  node.setResult(Value(std::move(list)));
}

/// The list with the shape that a reader states where the list has none.
List withShape(NodeContext &node, const List &list, size_t shapeInput) {
  List copy = list;
  if (!copy.shape)
    copy.shape = shapeIn(node, shapeInput);
  if (!copy.element)
    copy.element = node.typeAttribute("element_dtype", wsc::tf::DT_FLOAT);
  return copy;
}

void listStack(NodeContext &node) {
  node.ignoreAttributes({"num_elements"});
  if (const List *list = node.list(0))
    node.setResult(stacked(node, withShape(node, *list, 1)));
}
void listGet(NodeContext &node) {
  int64_t index = node.constantInt(1, "the index");
  if (const List *list = node.list(0))
    node.setResult(elementOf(node, withShape(node, *list, 2), index));
}
void listSet(NodeContext &node) {
  node.ignoreAttributes({"resize_if_index_out_of_bounds"});
  int64_t index = node.constantInt(1, "the index");
  const List *list = node.list(0);
  Tensor value = node.input(2);
  if (!node.failed())
    setElement(node, *list, index, value, node.boolAttribute("resize_if_index_out_of_bounds", false));
}
void listPush(NodeContext &node) {
  const List *list = node.list(0);
  Tensor value = node.input(1);
  if (!node.failed())
    setElement(node, *list, static_cast<int64_t>(list->elements.size()), value, /*grows=*/true);
}
void listPop(NodeContext &node) {
  const List *list = node.list(0);
  if (!list)
    return;
  if (list->elements.empty())
    return node.fail("takes an element from an empty list");
  List rest = withShape(node, *list, 1);
  node.setResult(1, elementOf(node, rest, static_cast<int64_t>(rest.elements.size()) - 1));
  rest.elements.pop_back();
  node.setResult(0, Value(std::move(rest)));
}
void listLength(NodeContext &node) {
  if (const List *list = node.list(0))
    node.setResult(Value(node.layers.scalar(node.i32(), static_cast<double>(list->elements.size()))));
}
void listGather(NodeContext &node) {
  std::vector<int64_t> indices = node.constantInts(1, "the indices");
  if (const List *list = node.list(0))
    node.setResult(stacked(node, withShape(node, *list, 2), &indices));
}
void listConcat(NodeContext &node) {
  node.ignoreAttributes({"element_shape"});
  if (const List *list = node.list(0))
    joinElements(node, withShape(node, *list, node.inputCount() > 1 ? 1 : 9));
}
void listSplit(NodeContext &node) {
  Expression value = node.in(0);
  std::vector<int64_t> lengths = node.constantInts(2, "the lengths");
  if (node.failed())
    return;
  List list;
  list.element = value.elementType();
  splitInto(node, list, value, lengths);
}
/// tensor, indices, element shape or list, (number of elements)
template <bool isInto> void listScatter(NodeContext &node) {
  Expression value = node.in(isInto ? 1 : 0);
  std::vector<int64_t> indices = node.constantInts(isInto ? 2 : 1, "the indices");
  const int64_t count = node.inputCount() > 3 ? node.constantInt(3, "the number of elements") : -1;
  List list;
  if (isInto) {
    const List *before = node.list(0);
    list = before ? *before : List();
  } else if (!node.failed()) {
    list.element = value.elementType();
    list.shape = shapeIn(node, 2);
  }
  if (node.failed())
    return;
  std::vector<Tensor> rows = rowsOf(value);
  if (rows.size() != indices.size() || count > mostElements)
    return node.fail(absl::StrCat("has ", indices.size(), " indices for ", rows.size(), " rows"));
  if (count > static_cast<int64_t>(list.elements.size()))
    list.elements.resize(count);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= mostElements)
      return node.fail(absl::StrCat("index ", indices[i], " is outside [0, ", mostElements, ")"));
    if (indices[i] >= static_cast<int64_t>(list.elements.size()))
      list.elements.resize(indices[i] + 1);
    list.elements[indices[i]] = rows[i];
  }
  node.setResult(Value(std::move(list)));
}
/// Two lists, one behind the other.
void listConcatLists(NodeContext &node) {
  const List *first = node.list(0), *second = node.list(1);
  if (node.failed())
    return;
  const size_t count = first->elements.size() + second->elements.size();
  if (count > mostElements)
    return node.fail(absl::StrCat("a list of ", count, " tensors is outside [0, ", mostElements, "]"));
  List list = *first;
  list.elements.insert(list.elements.end(), second->elements.begin(), second->elements.end());
  node.setResult(Value(std::move(list)));
}
void listElementShape(NodeContext &node) {
  mlir::Type element = node.typeAttribute("shape_type", wsc::tf::DT_INT32);
  const List *list = node.list(0);
  if (node.failed())
    return;
  if (list->shape)
    return node.setResult(node.integers(*list->shape, element));
  node.setResult(Value(node.layers.scalar(element, -1)));
}
void listResize(NodeContext &node) {
  int64_t count = node.constantInt(1, "the size");
  const List *list = node.list(0);
  if (node.failed())
    return;
  if (count < 0 || count > mostElements)
    return node.fail(absl::StrCat("a list of ", count, " tensors is outside [0, ", mostElements, "]"));
  List copy = *list;
  copy.elements.resize(count);
  node.setResult(Value(std::move(copy)));
}

} // namespace

static const Operator table[] = {
    {"TensorArrayV3", 1, 1, arrayOf, "handle,flow"},
    {"TensorArrayWriteV3", 4, 4, arrayWrite},
    {"TensorArrayReadV3", 3, 3, arrayRead},
    {"TensorArrayGatherV3", 3, 3, arrayGather},
    {"TensorArrayScatterV3", 4, 4, arrayScatter},
    {"TensorArraySizeV3", 2, 2, arraySize},
    {"TensorArrayConcatV3", 2, 2, arrayConcat, "value,lengths"},
    {"TensorArraySplitV3", 4, 4, arraySplit},
    {"TensorArrayCloseV3", 1, 1, arrayClose},
    {"TensorListReserve", 2, 2, listReserve},
    {"EmptyTensorList", 2, 2, listEmpty},
    {"TensorListFromTensor", 2, 2, listFromTensor},
    {"TensorListStack", 2, 2, listStack},
    {"TensorListGetItem", 3, 3, listGet},
    {"TensorListSetItem", 3, 3, listSet},
    {"TensorListPushBack", 2, 2, listPush},
    {"TensorListPopBack", 2, 2, listPop, "output_handle,tensor"},
    {"TensorListLength", 1, 1, listLength},
    {"TensorListGather", 3, 3, listGather},
    {"TensorListElementShape", 1, 1, listElementShape},
    {"TensorListResize", 2, 2, listResize},
    {"TensorListConcat", 1, 1, listConcat, "tensor,lengths"},
    {"TensorListConcatV2", 3, 3, listConcat, "tensor,lengths"},
    {"TensorListSplit", 3, 3, listSplit},
    {"TensorListScatter", 3, 3, listScatter<false>},
    {"TensorListScatterV2", 4, 4, listScatter<false>},
    {"TensorListScatterIntoExistingList", 3, 3, listScatter<true>},
    {"TensorListConcatLists", 2, 2, listConcatLists},
};
llvm::ArrayRef<Operator> listOperators() { return table; }

} // namespace wsc::import::tf
