// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What executables, configurations and roles must not be.
// RUN: wsc-opt %s -verify-diagnostics -split-input-file

// Names are unique among their kind.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-note @+1 {{the first is here}}
    net @a
    // expected-error @+1 {{is the second net named "a"}}
    net @a
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-note @+1 {{the first is here}}
    role @a on (0, 0) {}
    // expected-error @+1 {{is the second role named "a"}}
    role @a on (0, 1) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-note @+1 {{the first is here}}
  configuration @a {}
  // expected-error @+1 {{is the second configuration named "a"}}
  configuration @a {}
}

// -----

// Different kinds may share a name.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    kernel @a rect (0, 0, 1, 1)
    net @a
    role @a on (0, 0) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      %a = buffer scratch at 8192 : 1 x f32
      // expected-error @+1 {{is the second buffer named "a" in role @r}}
      %b = fifo "a" at 8196 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{needs a name}}
      %a = buffer scratch "" at 8192 : 1 x f32
    }
  }
}

// -----

// References resolve.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{refers to kernel @a, which is not there}}
    role @r kernel @a on (0, 0) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{refers to net @a, which is not there}}
    router colour 0 net @a on (0, 0) [west -> east]
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{refers to section @a, which is not there}}
      %x = buffer constant from @a[0] at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{refers to state @a, which is not there}}
      %x = buffer state of @a at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{refers to section @a, which is not there}}
  state @s : tensor<1xf32> init @a
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{refers to configuration @a, which is not there}}
  entry @main inputs [] outputs [] steps [run @a]
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  state @s : tensor<4xf32>
  configuration @main {
    role @r on (0, 0) {
      %x = buffer scratch at 8192 : 4 x f32
    }
    // expected-error @+1 {{role @r has no buffer "x" of state @s}}
    bind @s to @r "x" over [4] strides [1]
  }
}

// -----

// A configuration moves tensors of the entries that run it.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{is input 1, but entry @main has 1}}
    io input 1 on (0, 0) side west colour 0
  }
  entry @main inputs ["x" : tensor<1xf32>] outputs [] steps [run @main]
}

// -----

// Steps are done at least once; a configuration is put in place once.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @a {}
  // expected-error @+1 {{step 1 is to be done 0 times; a configuration runs at least once}}
  entry @main inputs [] outputs [] steps [configure @a, run @a times 0]
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @a {}
  // expected-error @+1 {{step 0 is to be done 2 times; a configuration runs at least once, and is put in place once}}
  entry @main inputs [] outputs [] steps [configure @a times 2, run @a]
}

// -----

// Iterations are counted from 0.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @a {}
  // expected-error @+1 {{step 1 begins with iteration -1; runs begin with one from 0, and only they have iterations}}
  entry @main inputs [] outputs [] steps [configure @a, run @a from -1]
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @a {}
  // expected-error @+1 {{step 0 begins with iteration 2; runs begin with one from 0}}
  entry @main inputs [] outputs [] steps [configure @a from 2, run @a]
}

// -----

// Steps wait for earlier steps.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @a {}
  // expected-error @+1 {{step 0 waits for step 1; it can wait for earlier steps only}}
  entry @main inputs [] outputs [] steps [configure @a after (1), run @a]
}

// -----

// Residents have a name of their own and one source at most, and what they name is there.
core.executable target "mesh-4x4" execution "pipelined" {
  // expected-note @+1 {{the first is here}}
  resident @a : 1 x f32 on (0, 0) at 8192
  // expected-error @+1 {{is the second resident named "a"}}
  resident @a : 1 x f32 on (0, 0) at 8192
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{refers to section @s, which is not there}}
  resident @a : 1 x f32 on (0, 0) at 8192 from @s[0]
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{refers to state @s, which is not there}}
  resident @a : 1 x f32 on (0, 0) at 8192 of state @s at 0
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{is filled from a section and from a variable; it can have one of them}}
  resident @a : 1 x f32 on (0, 0) at 8192 from @s[0] of state @s at 0
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{section offset has 2 steps, but the lattice has 1 dimensions}}
  resident @a : 1 x f32 on (0, 0) + 4 x (1, 0) at 8192 from @s[0 + (4, 4)]
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{lies at byte 8192 with -4 bytes; neither may be negative}}
  resident @a : -1 x f32 on (0, 0) at 8192
}

// -----

// Windows.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{refers to resident @a, which is not there}}
      %x = buffer resident of @a at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{a window needs its resident: `of @resident`}}
      %x = buffer resident at 8192 : 1 x f32
    }
  }
}

// -----

// Lattices repeat different cores and stay on the mesh's side of zero.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{lattice dimension 0 has count 0, must be at least 1}}
    role @r on (0, 0) + 0 x (1, 0) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{lattice dimension 1 repeats the same core 3 times}}
    role @r on (0, 0) + 2 x (1, 0) + 3 x (0, 0) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{lattice has 5 dimensions, limit is 4}}
    role @r on (0, 0) + 1 x (1, 0) + 1 x (1, 0) + 1 x (1, 0) + 1 x (1, 0) + 1 x (1, 0) {}
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{lattice reaches row -2, column 0; both start at 0}}
    role @r on (0, 0) + 3 x (-1, 0) {}
  }
}

// -----

// Switches have positions; ports are those of a router.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{needs at least one switch position}}
    router colour 0 on (0, 0) []
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{expected one of: north, south, east, west, ramp}}
    router colour 0 on (0, 0) [west -> up]
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{side must be north, south, east or west}}
    io input 0 on (0, 0) side ramp colour 0
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{colour 256 must be 0 to 255}}
    router colour 256 on (0, 0) [west -> east]
  }
}

// -----

// Buffers.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{expected one of: scratch, constant, state, resident}}
      %x = buffer heap at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{a constant needs its section: `from @section[offset]`}}
      %x = buffer constant at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{a state buffer needs its variable: `of @variable`}}
      %x = buffer state at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{only a state buffer has a variable}}
      %x = buffer scratch of @s at 8192 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{lies at byte -4 with 4 bytes; neither may be negative}}
      %x = buffer scratch at -4 : 1 x f32
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{element type 'i24' is none of f32, f16, bf16, f64, i64, i32, i16, i8, ui64, ui32, ui16, ui8, i1}}
      %x = buffer scratch at 8192 : 1 x i24
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-error @+1 {{size in bytes exceeds 64 bits}}
      %x = buffer scratch at 8192 : 4611686018427387904 x f32
    }
  }
}

// -----

// Sections.
core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{inline elements are 'i32', the section's are 'f32'}}
  section @w from dense<0> : tensor<4xi32> view [4] strides [1] : f32
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{source must be `#core.file` or `dense` elements}}
  section @w from "weights.bin" view [4] strides [1] : f32
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{has 2 extents and 1 strides; there must be equally many, at most 8}}
  section @w from dense<0.0> : tensor<4xf32> view [2, 2] strides [1] : f32
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{extent -1 is negative}}
  section @w from dense<0.0> : tensor<4xf32> view [-1] strides [1] : f32
}

// -----

// Tensors have static shapes.
core.executable target "mesh-4x4" execution "pipelined" {
  // expected-error @+1 {{type 'tensor<?xf32>' must be a tensor of static shape of one of f32, f16, bf16, f64, i64, i32, i16, i8, ui64, ui32, ui16, ui8, i1}}
  state @s : tensor<?xf32>
}

// -----

// Each operation has its place.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{'core.section' op expects parent op 'core.executable'}}
    section @w from dense<0.0> : tensor<4xf32> view [4] strides [1] : f32
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    // expected-error @+1 {{'builtin.module' op does not belong directly in `core.configuration`}}
    builtin.module {}
  }
}
