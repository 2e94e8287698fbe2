/** A longer copy of an array of numbers: twice as long, unless told otherwise. */
export function grown<
  A extends
    | Uint8Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>
    | Int32Array<ArrayBuffer>
    | Float64Array<ArrayBuffer>,
>(array: A, length = 2 * array.length): A {
  const longer = new (array.constructor as new (length: number) => A)(length)
  longer.set(array)
  return longer
}
