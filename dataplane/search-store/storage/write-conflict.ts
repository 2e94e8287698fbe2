/** Conditions on writes: a document that must not be there, or must be as the writer last saw it. */
import type { WriteCondition, WriteError, WriteOp } from './index-storage.ts'

/** There is one node and no fail-over: the term never changes. */
const PRIMARY_TERM = 1

/** Why an operation may not be done on the document that is there; undefined where it may. */
export function conflictOf(op: WriteOp, current: { readonly seqNo: number; readonly version: number } | undefined): WriteError | undefined {
  const conflict = (reason: string): WriteError => ({
    type: 'version_conflict_engine_exception',
    reason: `[${op.id}]: version conflict, ${reason}`,
    status: 409,
  })
  if (op.action === 'create' && current !== undefined) return conflict(`document already exists (current version [${current.version}])`)
  const { ifSeqNo, ifPrimaryTerm = PRIMARY_TERM }: WriteCondition = op
  if (ifSeqNo === undefined) return undefined
  if (current === undefined) return conflict(`required seqNo [${ifSeqNo}], primary term [${ifPrimaryTerm}]. but no document was found`)
  if (current.seqNo === ifSeqNo && ifPrimaryTerm === PRIMARY_TERM) return undefined
  return conflict(
    `required seqNo [${ifSeqNo}], primary term [${ifPrimaryTerm}]. current document has seqNo [${current.seqNo}] and primary term [${PRIMARY_TERM}]`,
  )
}
