import type { Frame } from '../format/frame.ts'
import type { NumberRuns } from '../format/number-runs.ts'

/** Sequence numbers and versions of documents, as far as they are known. */
interface Numbers {
  readonly seqs: NumberRuns
  /** Where the version is not 1. */
  readonly versions: Map<number, number>
  idsTellTimes: boolean
}

/** Notes what a frame says of its documents, the first of which has the number `firstDoc`. */
export function noteNumbers(numbers: Numbers, firstDoc: number, { head, docs }: Frame): void {
  if (docs > 0) numbers.seqs.add(firstDoc, head.seq)
  if (docs > 0 && head.idsTellTimes !== true) numbers.idsTellTimes = false
  for (const [k, seq] of head.seqs ?? []) numbers.seqs.add(firstDoc + k, seq)
  for (const [k, version] of head.versions ?? []) numbers.versions.set(firstDoc + k, version)
}
