import { compressionsAlgorithms } from '@platformatic/kafka'
import kafkajs from 'kafkajs'

/** What `kafkajs` lacks: other clients write so, this product's own default among them. */
const LACKING = {
  [kafkajs.CompressionTypes.Snappy]: compressionsAlgorithms.snappy,
  [kafkajs.CompressionTypes.LZ4]: compressionsAlgorithms.lz4,
  [kafkajs.CompressionTypes.ZSTD]: compressionsAlgorithms.zstd,
}

/** Lets `kafkajs` read (and write) every compression of Kafka's. It keeps them in one table for all clients of the process. */
export function registerCodecs(): void {
  const codecs: Record<number, () => unknown> = kafkajs.CompressionCodecs
  for (const [type, { compressSync, decompressSync }] of Object.entries(LACKING))
    codecs[Number(type)] = () => ({
      compress: async ({ buffer }: { readonly buffer: Buffer }) => compressSync(buffer),
      decompress: async (bytes: Buffer) => decompressSync(bytes),
    })
}
