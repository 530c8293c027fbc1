// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times ONNX Runtime on a model, one run for each line it is asked, so that another program's runs can lie between
// them.
//
//   node ort_time.mjs MODEL INPUTS.json [THREADS]
//
// INPUTS.json: {"samples": [[{"name", "type", "shape", "file"}, …], …]}; a file holds raw little-endian elements. First
// prints "ready"; a line with K on standard input runs sample K (modulo their number) and prints the milliseconds
// taken.
// Environment: ORT_NODE_ROOT, the folder whose node_modules holds onnxruntime-node.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const [model, inputs, threads] = process.argv[1]?.endsWith('.mjs') ? process.argv.slice(2) : process.argv.slice(1);
const ort = createRequire(path.join(path.resolve(process.env.ORT_NODE_ROOT), 'package.json'))('onnxruntime-node');

// Element types by the runtime's names for them.
const arrays = {
  f32: ['float32', Float32Array], f64: ['float64', Float64Array], f16: ['float16', Uint16Array],
  bool: ['bool', Uint8Array],
  i8: ['int8', Int8Array], u8: ['uint8', Uint8Array], i16: ['int16', Int16Array], u16: ['uint16', Uint16Array],
  i32: ['int32', Int32Array], u32: ['uint32', Uint32Array], i64: ['int64', BigInt64Array],
  u64: ['uint64', BigUint64Array],
};
const toTensor = ({type, shape, file}) => {
  if (!arrays[type]) throw new Error(`no ONNX Runtime tensor for element type ${type}`);
  const [name, Elements] = arrays[type], bytes = fs.readFileSync(file);
  const elements = new Elements(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  return new ort.Tensor(name, elements, shape);
};
const samples = JSON.parse(fs.readFileSync(inputs, 'utf8')).samples
    .map((sample) => Object.fromEntries(sample.map((input) => [input.name, toTensor(input)])));
const count = Number(threads ?? 1);
const session = await ort.InferenceSession.create(model, {
  executionProviders: ['cpu'], intraOpNumThreads: count, interOpNumThreads: 1, graphOptimizationLevel: 'all',
  logSeverityLevel: 4,
});
await session.run(samples[0]);
console.log('ready');
for await (const line of readline.createInterface({input: process.stdin})) {
  const feeds = samples[Number(line) % samples.length];
  const start = process.hrtime.bigint();
  await session.run(feeds);
  console.log(Number(process.hrtime.bigint() - start) / 1e6);
}
