import { isUtf8 } from 'node:buffer'
import { Fault } from '../../json/fault.ts'
import { pathAt, seenAt } from '../../json/path.ts'
import type { RequestLayout } from '../layout.ts'
import { MalformedPayload } from '../malformed.ts'
import type { Steps } from '../steps.ts'
import { JsonScanner } from './json-scanner.ts'

export interface AcceptOptions {
  /** Decimal string; given to records that carry neither time (Decisions 3). */
  readonly observedTimeUnixNano: string
  /** Records, resources and scopes that are longer than so many bytes go nowhere: where the request is read with rests, no more than their syntax is checked. Default: no limit. */
  readonly maxPartBytes?: number
}

/** Checks an `ExportLogsServiceRequest` in JSON and finds its parts. Throws `MalformedPayload` or `OversizedPayload`. The bytes are kept, not copied. */
export function acceptJson(text: Uint8Array, options: AcceptOptions): RequestLayout {
  try {
    return scannerOf(text, options).scan()
  } catch (error) {
    throw asMalformed(text, error)
  }
}

/** The same, with rests. */
export function* acceptJsonSteps(text: Uint8Array, options: AcceptOptions): Steps<RequestLayout> {
  try {
    return yield* scannerOf(text, options).steps()
  } catch (error) {
    throw asMalformed(text, error)
  }
}

function scannerOf(text: Uint8Array, { observedTimeUnixNano, maxPartBytes = text.length }: AcceptOptions): JsonScanner {
  if (!isUtf8(text)) throw new MalformedPayload('request body: expected UTF-8, saw bytes that are not')
  return new JsonScanner(text, observedTimeUnixNano, maxPartBytes)
}

function asMalformed(text: Uint8Array, error: unknown): unknown {
  return error instanceof Fault ? new MalformedPayload(describe(text, error)) : error
}

function describe(text: Uint8Array, fault: Fault): string {
  const path = pathAt(text, fault.offset)
  return `${path === '' ? 'request body' : path}: expected ${fault.expected}, saw ${seenAt(text, fault.offset)} (at byte ${fault.offset})`
}
