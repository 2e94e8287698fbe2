/** The action lines of a `_bulk` body. */

import { BACKSLASH, CLOSE_OBJECT, QUOTE } from '../../../json/bytes.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import { duplicateField, illegalArgument, unsupported } from '../../api-error.ts'
import { duplicateName } from '../../json/duplicate-name.ts'
import { type JsonObject, words } from '../../json/json-reader.ts'
import type { WriteOp } from '../../storage/index-storage.ts'

export type BulkAction = WriteOp['action']

/** The content of an action line. */
export interface BulkMeta {
  readonly action: BulkAction
  readonly index: string | undefined
  readonly id: string | undefined
  readonly requireAlias?: boolean | undefined
  /** As given. */
  readonly ifSeqNo?: unknown
  readonly ifPrimaryTerm?: unknown
}

const ACTIONS: readonly string[] = ['index', 'create', 'update', 'delete']
/** Length of `"}}`, which stands behind the id. */
const TAIL_BYTES = 3

/** Reads action lines; one that differs from the plain line before it in the id alone is not parsed. */
export class ActionLines {
  readonly #body: Buffer
  #action: BulkAction = 'index'
  #index = ''
  /** Where the last plain line stands, up to its id. */
  #prefixAt = 0
  #prefixBytes = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  /** Throws 400 for a line that is malformed; `line` is its number. */
  read(at: number, end: number, line: number): BulkMeta {
    if (this.#isAlike(at, end)) {
      const id = this.#body.toString('latin1', at + this.#prefixBytes, end - TAIL_BYTES)
      return { action: this.#action, index: this.#index, id }
    }
    const text = this.#body.toString('utf8', at, end)
    const plain = PLAIN_LINE.exec(text)
    if (plain === null || hasControls(text)) return parseActionLine(text, line)
    this.#action = plain[1] as BulkAction
    this.#index = plain[2]!
    this.#prefixAt = at
    this.#prefixBytes = end - at - TAIL_BYTES - Buffer.byteLength(plain[3]!)
    return { action: this.#action, index: this.#index, id: plain[3] }
  }

  #isAlike(at: number, end: number): boolean {
    const body = this.#body
    const idEnd = end - TAIL_BYTES
    let k = at + this.#prefixBytes
    if (this.#prefixBytes === 0 || idEnd <= k) return false
    if (body[idEnd] !== QUOTE || body[idEnd + 1] !== CLOSE_OBJECT || body[idEnd + 2] !== CLOSE_OBJECT) return false
    for (; k < idEnd; k++) {
      const byte = body[k]!
      if (byte < 0x20 || byte >= 0x7f || byte === QUOTE || byte === BACKSLASH) return false
    }
    for (let n = 0; n < this.#prefixBytes; n++) if (body[at + n] !== body[this.#prefixAt + n]) return false
    return true
  }
}

/** The line as most clients write it: index and id, nothing else, no escapes. */
const PLAIN_LINE = /^\{"(index|create|update|delete)":\{"_index":"([^"\\]+)","_id":"([^"\\]+)"\}\}$/

function parseActionLine(text: string, line: number): BulkMeta {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT or END_OBJECT: ${cause.message}`)
  }
  const duplicate = duplicateName(Buffer.from(text), value)
  if (duplicate !== undefined) throw duplicateField(duplicate)
  if (!isJsonObject(value))
    throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT but found [${text.slice(0, 50)}]`)
  let action: string | undefined
  for (const name in value) {
    if (action !== undefined) throw illegalArgument(`Malformed action/metadata line [${line}], expected END_OBJECT but found [${name}]`)
    action = name
  }
  if (action === undefined) throw illegalArgument(`Malformed action/metadata line [${line}], expected FIELD_NAME but found [END_OBJECT]`)
  if (!ACTIONS.includes(action))
    throw illegalArgument(
      `Malformed action/metadata line [${line}], expected field [create], [delete], [index] or [update] but found [${action}]`,
    )
  const meta = value[action]
  if (!isJsonObject(meta)) throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT for [${action}]`)
  for (const name in meta) checkMember(name, meta[name], line)
  return metaOf(action as BulkAction, meta)
}

function metaOf(given: BulkAction, members: JsonObject): BulkMeta {
  const textOf = (name: string) => (members[name] === undefined || members[name] === null ? undefined : String(members[name]))
  return {
    action: given === 'index' && members['op_type'] === 'create' ? 'create' : given,
    index: textOf('_index'),
    id: textOf('_id'),
    requireAlias: members['require_alias'] === undefined ? undefined : String(members['require_alias']) === 'true',
    ifSeqNo: members['if_seq_no'],
    ifPrimaryTerm: members['if_primary_term'],
  }
}

/** Control characters must be escaped in JSON. */
const hasControls = (text: string): boolean => /[\u0000-\u001f]/.test(text)

const MEMBERS = new Set(words('_index _id if_seq_no if_primary_term routing _routing require_alias retry_on_conflict op_type'))
const MEMBERS_ELSEWHERE = new Set(words('pipeline version _version version_type _version_type dynamic_templates _source parent _type'))

function checkMember(name: string, value: unknown, line: number): void {
  if (MEMBERS_ELSEWHERE.has(name)) throw unsupported(`action/metadata line [${line}]: parameter [${name}]`)
  if (!MEMBERS.has(name)) throw illegalArgument(`Action/metadata line [${line}] contains an unknown parameter [${name}]`)
  if (typeof value === 'object' && value !== null)
    throw illegalArgument(`Malformed action/metadata line [${line}], expected a simple value for field [${name}]`)
}
