/** Keeps a text that edits have made invalid JSON away from the bus, where the records of other senders would be lost with it. */
import { Buffer } from 'node:buffer'
import { OPEN_OBJECT } from '../json/bytes.ts'
import { MAX_REQUEST_LEVELS } from '../json/depth.ts'
import { Fault } from '../json/fault.ts'
import { EditedText } from './edited-text.ts'
import { type Edit, EditList, type RequestLayout, settleEdits } from './layout.ts'
import { MalformedPayload, OversizedPayload } from './malformed.ts'
import { allSteps, Rests, type Steps, valueEndSteps } from './steps.ts'

const EMPTY_OBJECT = Buffer.from('{}')

/**
 * The edits after which each record, and what stands around the records, is a JSON object as it was before. Looks at no record without edits.
 * A record whose edits would break it has none: it goes on as it came. Throws `MalformedPayload` where that is not allowed of what stands around the records. A record of more than `maxBytes` goes nowhere and is not looked at.
 */
export function* soundEdits(layout: RequestLayout, maxBytes: number): Steps<readonly Edit[]> {
  const { text, edits, recordBounds, recordCount, needsEdits } = layout
  const edited = new EditedText(text, edits)
  const sound: Edit[] = []
  const around: Edit[] = []
  let record = 0
  const rests = new Rests(0)
  for (let i = 0; i < edits.length; ) {
    const first = edits[i]!
    if (rests.isDue(first.start)) yield
    while (record < recordCount && recordBounds[2 * record + 1]! <= first.start) record++
    const start = record < recordCount ? recordBounds[2 * record]! : text.length
    if (first.start < start) {
      around.push(first)
      i++
      continue
    }
    const end = recordBounds[2 * record + 1]!
    const from = i
    while (i < edits.length && edits[i]!.start < end) i++
    const isSound = edited.size(start, end) > maxBytes || (edits[i - 1]!.end <= end && isObject(edited.bytes(start, end)))
    if (isSound) for (let j = from; j < i; j++) sound.push(edits[j]!)
  }
  if (around.length === 0) return sound
  if (yield* isObjectSteps(withoutRecords(layout, around))) return settleEdits([...around, ...sound])
  if (needsEdits) throw new MalformedPayload('request body: expected resources that are JSON objects still once the tenant is in them')
  return sound
}

/** Whether the text is one JSON object, without space around it, no deeper than a request may be. */
export function isObject(text: Uint8Array): boolean {
  return allSteps(isObjectSteps(text))
}

function* isObjectSteps(text: Uint8Array): Steps<boolean> {
  if (text[0] !== OPEN_OBJECT) return false
  try {
    return (yield* valueEndSteps(text, 0, new EditList(), MAX_REQUEST_LEVELS)) === text.length
  } catch (error) {
    if (error instanceof Fault || error instanceof OversizedPayload) return false
    throw error
  }
}

/** The edited text with no records in its lists; with an empty object in the place of each where a list is edited beside its records. */
function withoutRecords({ text, resources, recordBounds }: RequestLayout, edits: readonly Edit[]): Uint8Array {
  const edited = new EditedText(text, edits)
  const parts: Uint8Array[] = []
  let from = 0
  for (const { listStart, listEnd, firstRecord, endRecord } of resources.flatMap(({ scopes }) => scopes)) {
    if (edited.isEdited(listStart, listEnd))
      for (let i = firstRecord; i < endRecord; i++) {
        parts.push(edited.bytes(from, recordBounds[2 * i]!), EMPTY_OBJECT)
        from = recordBounds[2 * i + 1]!
      }
    else {
      parts.push(edited.bytes(from, listStart))
      from = listEnd
    }
  }
  parts.push(edited.bytes(from, text.length))
  return Buffer.concat(parts)
}
