// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// node ort_outputs.mjs FOLDER: runs FOLDER/*/model.onnx with ONNX Runtime on test_data_set_0/input_K.pb and writes
// output_K.npy beside them. Inputs are f32 or i64 TensorProtos with raw_data. Prints what ONNX Runtime refuses, and
// removes those folders: they say nothing.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const packages = path.join(path.resolve(process.env.ORT_NODE_ROOT ?? '.'), 'package.json');
const ort = createRequire(packages)('onnxruntime-node');

// dims, name and raw_data of a TensorProto.
function readTensor(bytes) {
  let at = 0;
  const tensor = {dims: [], name: ''};
  const varint = () => {
    let value = 0, factor = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  while (at < bytes.length) {
    const tag = varint(), field = tag >> 3;
    if ((tag & 7) === 0) {
      const value = varint();
      if (field === 1) tensor.dims.push(value);
      if (field === 2) tensor.isInteger = value === 7;
      continue;
    }
    const size = varint(), end = at + size;
    if (field === 1)
      while (at < end) tensor.dims.push(varint()); // packed
    const part = bytes.subarray(at, end);
    at = end;
    if (field === 8)
      tensor.name = part.toString('utf8');
    else if (field === 9)
      tensor.data = new (tensor.isInteger ? BigInt64Array : Float32Array)(new Uint8Array(part).buffer);
  }
  return tensor;
}

const descriptions = {float32: '<f4', float64: '<f8', int32: '<i4', int64: '<i8', int8: '|i1', uint8: '|u1',
  bool: '|b1'};
function printNpy(tensor) {
  const dims = tensor.dims.length === 1 ? `${tensor.dims[0]},` : tensor.dims.join(', ');
  let header = `{'descr': '${descriptions[tensor.type]}', 'fortran_order': False, 'shape': (${dims}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const size = Buffer.alloc(2);
  size.writeUInt16LE(header.length);
  const data = tensor.data;
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), size, Buffer.from(header, 'latin1'),
                        Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

const root = process.argv[2];
for (const name of fs.readdirSync(root).filter((entry) => fs.existsSync(path.join(root, entry, 'model.onnx')))) {
  const folder = path.join(root, name), data = path.join(folder, 'test_data_set_0');
  try {
    const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'),
        {executionProviders: ['cpu'], graphOptimizationLevel: process.env.ORT_OPTIMIZATION ?? 'disabled',
          intraOpNumThreads: 1, logSeverityLevel: 4});
    const feeds = {};
    for (let k = 0; fs.existsSync(path.join(data, `input_${k}.pb`)); ++k) {
      const tensor = readTensor(fs.readFileSync(path.join(data, `input_${k}.pb`)));
      feeds[tensor.name] = new ort.Tensor(tensor.isInteger ? 'int64' : 'float32', tensor.data, tensor.dims);
    }
    const results = await session.run(feeds);
    session.outputNames.forEach(
        (output, k) => fs.writeFileSync(path.join(data, `output_${k}.npy`), printNpy(results[output])));
    await session.release?.();
  } catch (error) {
    console.log(`${name}: ONNX Runtime: ${String(error.message).split('\n')[0]}`);
    fs.rmSync(folder, {recursive: true});
  }
}
