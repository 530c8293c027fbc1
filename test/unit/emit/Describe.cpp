// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All fields of a module as text, one struct after another.
#include "RandomModule.h"

#include <bit>
#include <sstream>

namespace wsc::emit {
namespace {

using namespace format;

class Describer {
public:
  std::string run(const CoreModule &module) {
    const Executable &e = module.executable;
    put(target::targetJson(e.target), e.execution);
    for (const SectionRecipe &s : module.sections) {
      put("\nsection", s.name, int(s.type), s.path, s.sourceOffset, s.sourceBytes, s.elementOffset,
          bool(s.inlineBytes));
      list(s.extents);
      list(s.strides);
      if (s.inlineBytes)
        for (std::byte b : *s.inlineBytes)
          put(int(b));
    }
    for (const StateVariable &s : e.states) {
      put("\nstate", s.initialSection);
      tensor(s.tensor);
    }
    for (const Resident &r : e.residents) {
      put("\nresident", r.name, int(r.type), r.address, r.bytes, r.section, r.state);
      lattice(r.cores);
      affine(r.sectionOffset);
      affine(r.stateOffset);
    }
    for (const Entry &entry : e.entries) {
      put("\nentry", entry.name, "inputs");
      for (const TensorType &t : entry.inputs)
        tensor(t);
      put("outputs");
      for (const TensorType &t : entry.outputs)
        tensor(t);
      for (const Step &s : entry.steps) {
        put("step", int(s.kind), s.configuration, s.count, s.first);
        list(s.after);
      }
    }
    for (const Configuration &c : e.configurations)
      configuration(c);
    return out.str();
  }

private:
  std::ostringstream out;

  template <typename... T> void put(const T &...values) { ((out << values << "|"), ...); }
  template <typename Items> void list(const Items &items) {
    out << "[";
    for (const auto &item : items)
      put(item);
    out << "]";
  }
  void affine(const Affine &a) {
    put(a.constant);
    list(a.perDim);
  }
  void lattice(const Lattice &l) {
    put(l.row, l.col);
    for (const Lattice::Dim &d : l.dims)
      put(d.count, d.rowStep, d.colStep);
  }
  void tensor(const TensorType &t) {
    put(t.name, int(t.type));
    list(t.shape);
  }
  void operand(const Operand &o) {
    put("\n   ", int(o.kind), o.buffer, o.queue, std::bit_cast<uint64_t>(o.immediate));
    affine(o.base);
    list(o.stride);
    list(o.loopStep);
  }
  void role(const Role &r) {
    put("\nrole", r.name, r.kernel);
    lattice(r.cores);
    for (const Buffer &b : r.buffers) {
      put("\n buffer", b.name, int(b.kind), int(b.type), b.address, b.bytes, b.section, b.state, b.resident,
          b.residentOffset, b.runStep);
      affine(b.sectionOffset);
    }
    for (const Queue &q : r.queues)
      put("\n queue", q.output, int(q.colour), int(q.index));
    for (const Thread &t : r.threads) {
      put("\n thread");
      for (const Instruction &i : t) {
        put("\n  ", int(i.opcode), int(i.type), int(i.sourceType), i.mixed, int(i.controlCount));
        operand(i.dst);
        operand(i.a);
        operand(i.b);
        for (const Affine &extent : i.extent)
          affine(extent);
      }
    }
  }
  void configuration(const Configuration &c) {
    put("\nconfiguration", c.name);
    for (const Kernel &k : c.kernels) {
      put("\nkernel", k.name, k.row, k.col, k.rows, k.cols, k.macs, k.predictedIntervalCycles);
      list(k.layers);
    }
    for (const Net &n : c.nets)
      put("\nnet", n.name, n.wordsPerSample);
    for (const Role &r : c.roles)
      role(r);
    for (const RouterRole &r : c.routers) {
      put("\nrouter", int(r.colour), r.net);
      lattice(r.routers);
      for (const SwitchPosition &p : r.positions)
        put(int(p.input), int(p.outputs));
    }
    for (const IoBinding &io : c.io) {
      put("\nio", io.output, io.tensor, int(io.side), int(io.colour), io.padded);
      lattice(io.ports);
      affine(io.hostOffset);
      for (const Affine &extent : io.extent)
        affine(extent);
      list(io.stride);
    }
    for (const StateBinding &b : c.stateBindings) {
      put("\nbinding", b.state, b.role, b.buffer);
      affine(b.hostOffset);
      list(b.extent);
      list(b.stride);
    }
  }
};

} // namespace

std::string describe(const CoreModule &module) { return Describer().run(module); }

} // namespace wsc::emit
