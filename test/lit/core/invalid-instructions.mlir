// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction must not be.
// RUN: wsc-opt %s -verify-diagnostics -split-input-file

// An opcode has as many sources as its definition says.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{`add` takes a destination and 2 sources, has 2 operands}}
        add %x[0], %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{`neg` takes a destination and 1 source, has 3 operands}}
        neg %x[0], %x[0], %x[0] : f32
      }
    }
  }
}

// -----

// Only `move` discards.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{only `move` may discard its result with `null`}}
        add null, %x[0], %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{first source must not be `null`}}
        move %x[0], null : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination must not be a number}}
        move 1.0, %x[0] : f32
      }
    }
  }
}

// -----

// What reads its old value must be in memory.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination must be memory, because its old value takes part}}
        fma %ring, %x[0], %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{first source must be memory, because it is indexed}}
        gather %x[0], %in, %n[0] : f32
      }
    }
  }
}

// -----

// Constants are read-only.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination is the constant buffer "w", which is read-only}}
        move %w[0], %x[0] : f32
      }
    }
  }
}

// -----

// Queues have a direction.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination is an input queue; words leave through `queue out`}}
        move %in, %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{first source is an output queue; words arrive through `queue in`}}
        move %x[0], %out : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{needs an output queue}}
        send_control %in, 1
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{needs an output queue}}
        send_control %ring, 1
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{count is 0, must be 1 to 255}}
        send_control %out, 0
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{has priority 256, legal are 0 to 255}}
        send_control %out, 1 priority 256
      }
    }
  }
}

// -----

// Types.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{`exp` needs a floating-point type, not 'i32'}}
        exp %n[0], %n[0] : i32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{element type 'i24' is none of f32, f16, bf16, f64, i64, i32, i16, i8, ui64, ui32, ui16, ui8, i1}}
        move %x[0], %x[0] : i24
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{`convert` needs two types: `source -> result`}}
        convert %x[0], %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{`move` gives no 'f16' from sources of type 'f32'; legal are f16 or bf16 to f32, 8- or 16-bit integers to i32 and f32 to f64 in add, sub, mul, fma and reduce_add, and comparisons to i1}}
        move %x[0], %x[0] : f32 -> f16
      }
    }
  }
}

// -----

// At most four dimensions, at most four loops.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{has 5 extents, limit is 4}}
        move %x[0], %x[0] over [2, 2, 2, 2, 2] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination has 5 strides and 0 loop steps, limit is 4 of each}}
        move %x[0 by 1, 1, 1, 1, 1], %x[0] over [2, 2, 2, 2] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{destination has 1 loop steps, but the instruction is inside 0 loops}}
        move %x[0 loop 4], %x[0] : f32
      }
    }
  }
}

// -----

// Affine numbers have at most as many steps as the lattice has dimensions.
core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{base has 2 steps, but the lattice has 1 dimensions}}
        move %x[0 + (4, 4)], %x[0] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  section @w from dense<0.0> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      %n = buffer scratch at 8224 : 8 x i32
      %w = buffer constant from @w[0] at 8256 : 8 x f32
      %ring = fifo at 9000 : 8 x f32
      %in = queue in 0 colour 1
      %out = queue out 0 colour 2
      thread {
        // expected-error @+1 {{extent has 2 steps, but the lattice has 1 dimensions}}
        move %x[0], %x[0] over [1 + (0, 1)] : f32
      }
    }
  }
}

// -----

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      %x = buffer scratch at 8192 : 8 x f32
      thread {
        loop 2 {
          loop 2 {
            loop 2 {
              loop 2 {
                // expected-error @+1 {{is nested 5 deep, limit is 4}}
                loop 2 {
                  neg %x[0], %x[0] : f32
                }
              }
            }
          }
        }
      }
    }
  }
}

// -----

// A FIFO or queue is not indexed, memory is.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      // expected-note @+1 {{prior use here}}
      %x = buffer scratch at 8192 : 8 x f32
      thread {
        // expected-error @+1 {{use of value '%x' expects different type}}
        move %x, %x[0] : f32
      }
    }
  }
}

// -----

// A mnemonic must be an opcode.
core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) {
      thread {
        // expected-error @+1 {{custom op 'matmul' is unknown (tried 'core.matmul' as well)}}
        matmul null, 1.0 : f32
      }
    }
  }
}
