/** Files of Windows come in UTF-16, which begins with a byte order mark. */

type Decoder = InstanceType<typeof TextDecoder>

const LITTLE_ENDIAN_MARK = 0xfffe
const BIG_ENDIAN_MARK = 0xfeff
const MARK_BYTES = 2

/** The bytes of a text in UTF-8: as they are, or decoded where they begin as UTF-16. */
export async function* toUtf8(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  let decoder: Decoder | undefined
  for await (const chunk of source) {
    let bytes = chunk
    if (head !== undefined) {
      bytes = Buffer.concat([head, chunk])
      head = bytes.length < MARK_BYTES ? bytes : undefined
      if (head !== undefined) continue
      decoder = decoderOf(bytes)
    }
    yield decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }))
  }
  if (head !== undefined) yield head
  if (decoder !== undefined) yield Buffer.from(decoder.decode())
}

function decoderOf(bytes: Buffer): Decoder | undefined {
  const mark = bytes.readUInt16BE()
  if (mark === LITTLE_ENDIAN_MARK) return new TextDecoder('utf-16le')
  return mark === BIG_ENDIAN_MARK ? new TextDecoder('utf-16be') : undefined
}
