/** Writes documents without end and prints each acknowledged id; the test kills it. Arguments: folder, first number. */

import { LOG_MAPPING } from './log-mapping.ts'
import { numberedDocument } from './numbered-documents.ts'
import { openIndex } from './temporary-index.ts'

const [dir, first] = process.argv.slice(2)
const index = await openIndex(dir!, LOG_MAPPING)
let next = Number(first)

async function writeOn(): Promise<never> {
  for (;;) {
    const count = 1 + (next % 40)
    const numbers = Array.from({ length: count }, () => next++)
    const ops = numbers.map(n => ({ action: 'create' as const, ...numberedDocument(n) }))
    const flags = numbers
      .filter(n => n % 16 === 0)
      .map(n => ({ action: 'update' as const, id: numberedDocument(n).id, partial: Buffer.from('{"is_anomaly":true}') }))
    await index.apply([...ops, ...flags])
    process.stdout.write(`${numbers.join('\n')}\n`)
    if (next % 500 < 40) await index.seal()
    await index.maintain()
  }
}

process.stdout.write(`open ${index.docCount}\n`)
await Promise.all([writeOn(), writeOn(), writeOn()])
