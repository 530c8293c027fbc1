// Eight cores in a row hold eight numbers each; the sum over the cores leaves at the east edge.
// Sums run from east to west order of the route: y = ((x0 + x1) + x2) + … + x7.
core.executable target "mesh-1x8" execution "pipelined" {
  configuration @main {
    kernel @sum rect (0, 0, 1, 8) layers ["sum"] predicted 40
    net @input words 64
    net @chain words 8
    net @output words 8
    role @first kernel @sum on (0, 0) {
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        move %out0, %in0 over [8] : f32
      }
    }
  }
  entry @main inputs ["x" : tensor<8xf32>] outputs ["y" : tensor<8xf32>] steps [configure @main, run @main after (0)]
}
