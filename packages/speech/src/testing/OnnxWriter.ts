// Just enough of ONNX's protobuf (onnx.proto3) to write small models by hand: a test's models then hold no weights of
// anybody's and are made anew for each run.

export const floatType = 1
export const int64Type = 7

const varint = (value: number): Buffer => {
  const bytes: Array<number> = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
const number = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)])
const bytes = (field: number, value: string | Buffer): Buffer => {
  const content = Buffer.from(value)
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content])
}
const message = (field: number, ...parts: ReadonlyArray<Buffer>): Buffer => bytes(field, Buffer.concat(parts))

export interface Tensor {
  readonly name: string
  readonly dims: ReadonlyArray<number>
  readonly data: Float32Array | BigInt64Array
}

const tensor = ({ data, dims, name }: Tensor): Buffer =>
  Buffer.concat([
    ...dims.map((dim) => number(1, dim)),
    number(2, data instanceof Float32Array ? floatType : int64Type),
    bytes(8, name),
    bytes(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  ])

export interface Node {
  readonly op: string
  readonly in: ReadonlyArray<string>
  readonly out: ReadonlyArray<string>
  /** Whole numbers, words, or lists of whole numbers. */
  readonly attributes?: Readonly<Record<string, number | string | ReadonlyArray<number>>>
}

const node = (one: Node): Buffer =>
  Buffer.concat([
    ...one.in.map((name) => bytes(1, name)),
    ...one.out.map((name) => bytes(2, name)),
    bytes(4, one.op),
    ...Object.entries(one.attributes ?? {}).map(([name, value]) => {
      if (typeof value === "number") return message(5, bytes(1, name), number(3, value), number(20, 2))
      if (typeof value === "string") return message(5, bytes(1, name), bytes(4, value), number(20, 3))
      return message(5, bytes(1, name), ...value.map((item) => number(8, item)), number(20, 7))
    })
  ])

export interface Value {
  readonly name: string
  readonly type: number
  /** A word is a free dimension. */
  readonly dims: ReadonlyArray<number | string>
}

const value = ({ dims, name, type }: Value): Buffer => {
  const shape = dims.map((dim) => message(1, typeof dim === "number" ? number(1, dim) : bytes(2, dim)))
  return Buffer.concat([bytes(1, name), message(2, message(1, number(1, type), message(2, ...shape)))])
}

export interface Model {
  readonly nodes: ReadonlyArray<Node>
  readonly constants: ReadonlyArray<Tensor>
  readonly inputs: ReadonlyArray<Value>
  readonly outputs: ReadonlyArray<Value>
  readonly metadata: Readonly<Record<string, string | number>>
}

export const encodeModel = ({ constants, inputs, metadata, nodes, outputs }: Model): Buffer =>
  Buffer.concat([
    number(1, 8),
    message(
      7,
      ...nodes.map((one) => bytes(1, node(one))),
      bytes(2, "toy"),
      ...constants.map((one) => bytes(5, tensor(one))),
      ...inputs.map((one) => bytes(11, value(one))),
      ...outputs.map((one) => bytes(12, value(one)))
    ),
    message(8, bytes(1, ""), number(2, 17)),
    ...Object.entries(metadata).map(([key, text]) => message(14, bytes(1, key), bytes(2, String(text))))
  ])
