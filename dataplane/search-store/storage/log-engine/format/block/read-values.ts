/** Reads values that were cut out of the documents of a block. */
import { BlockTimes } from './block-times.ts'
import { NumberReader } from './cut-numbers.ts'
import { type BlockParts, HexReader, KINDS, putUuid, UUID_BYTES, type ValueReader } from './cut-values.ts'
import { LogIdReader } from './log-ids.ts'

/** Reads what `write` of that kind wrote for `count` values. */
export function readValues(kind: number, count: number, parts: BlockParts): ValueReader {
  const { texts, plain } = parts
  switch (kind) {
    case KINDS.nothing:
      return { put: (_doc, _rank, _out, at) => at }
    case KINDS.id:
      return { put: (doc, _rank, out, at) => putUuid(parts.ids, UUID_BYTES * doc, out, at) }
    case KINDS.uuid: {
      const bytes = plain.take(texts.byte() * count)
      return { put: (_doc, rank, out, at) => putUuid(bytes, UUID_BYTES * rank, out, at) }
    }
    case KINDS.hex: {
      const width = texts.byte()
      return new HexReader(width, plain.take(width * count))
    }
    case KINDS.numbers:
      return new NumberReader(count, texts, plain)
    case KINDS.time: {
      const times = BlockTimes.read(parts.docs, texts)
      parts.times ??= times
      return { put: (doc, _rank, out, at) => times.put(doc, out, at) }
    }
    case KINDS.epoch:
      return { put: (doc, _rank, out, at) => parts.times!.putEpoch(doc, out, at) }
    case KINDS.subMillis:
      return { put: (doc, _rank, out, at) => parts.times!.putSubMillis(doc, out, at) }
    case KINDS.logId:
      return new LogIdReader(count, parts)
    default:
      throw new Error(`a block has values of kind ${kind}, which this version does not know`)
  }
}
