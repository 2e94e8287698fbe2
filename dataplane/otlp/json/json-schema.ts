/** The messages of opentelemetry/proto/logs/v1 as the JSON scanner needs them: field names and kinds, looked up by bytes. */
import { type Label, labelOf } from './json-label.ts'

export const Kind = {
  string: 0,
  uint64: 1,
  int64: 2,
  uint32: 3,
  int32: 4,
  double: 5,
  bool: 6,
  base64: 7,
  message: 8,
  list: 9,
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** The use that the scanner has for a field, beside checking it. */
export const Note = {
  none: 0,
  resourceLogs: 1,
  scopeLogs: 2,
  logRecords: 3,
  resource: 4,
  resourceAttributes: 5,
  time: 6,
  observedTime: 7,
  attributeKey: 8,
  stringValue: 9,
} as const
export type Note = (typeof Note)[keyof typeof Note]

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly note: Note
  /** The message that the field holds, or that each element of its list is. */
  readonly message: Message
  /** The spelling that this entry matches. */
  readonly spelling: Uint8Array
  /** The spelling is not the camelCase one and is rewritten. */
  readonly rename: boolean
  /** The spelling with `":`, as it stands in compact JSON. */
  readonly label: Label
  /** The field that came after this one the last time: most often it does again. */
  likelyNext: Field | undefined
}

export class Message {
  readonly name: string
  /** At most one field may be set (`oneof`). */
  readonly exclusive: boolean
  /** Fields by hash of their spelling; see `slotOf`. */
  readonly slots: (Field | undefined)[] = []
  readonly byName = new Map<string, Field>()
  /** The field that came first the last time. */
  likelyFirst: Field | undefined
  #factor = 0

  constructor(name: string, exclusive = false) {
    this.name = name
    this.exclusive = exclusive
  }

  get factor(): number {
    return this.#factor
  }

  /** Names the fields: `[name, kind, message, note]`. Finds a hash factor without collisions. */
  define(fields: readonly (readonly [name: string, kind: Kind, message?: Message, note?: Note])[]): void {
    const entries = fields.flatMap(([name, kind, message = SCALAR, note = Note.none]) =>
      [...new Set([name, snakeCase(name)])].map(spelling => ({
        name,
        kind,
        message,
        note,
        spelling: new TextEncoder().encode(spelling),
        rename: spelling !== name,
        label: labelOf(new TextEncoder().encode(spelling)),
        likelyNext: undefined,
      })),
    )
    for (const entry of entries) this.byName.set(new TextDecoder().decode(entry.spelling), entry)
    for (this.#factor = 1; this.#factor < 4096; this.#factor++) {
      this.slots.length = 0
      for (let i = 0; i < SLOTS; i++) this.slots.push(undefined)
      if (entries.every(entry => this.#place(entry))) return
    }
    throw new Error(`the field names of ${this.name} need another hash`)
  }

  #place(entry: Field): boolean {
    const { spelling } = entry
    const slot = slotOf(this.#factor, spelling[0]!, spelling[spelling.length >> 1]!, spelling.length)
    if (this.slots[slot] !== undefined) return false
    this.slots[slot] = entry
    return true
  }
}

const SLOTS = 64

/** Hash of a field name by its first byte, its middle byte and its length. */
export function slotOf(factor: number, first: number, middle: number, length: number): number {
  return (first * factor + middle * (factor >> 5) + length) & (SLOTS - 1)
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

const SCALAR = new Message('')
const anyValue = new Message('AnyValue', true)
const arrayValue = new Message('ArrayValue')
const keyValueList = new Message('KeyValueList')
const keyValue = new Message('KeyValue')
const resource = new Message('Resource')
const scope = new Message('InstrumentationScope')
const logRecord = new Message('LogRecord')
const scopeLogs = new Message('ScopeLogs')
const resourceLogs = new Message('ResourceLogs')

export const ANY_VALUE = anyValue
export const KEY_VALUE = keyValue
export const EXPORT_LOGS_REQUEST = new Message('ExportLogsServiceRequest')

anyValue.define([
  ['stringValue', Kind.string, SCALAR, Note.stringValue],
  ['boolValue', Kind.bool],
  ['intValue', Kind.int64],
  ['doubleValue', Kind.double],
  ['arrayValue', Kind.message, arrayValue],
  ['kvlistValue', Kind.message, keyValueList],
  ['bytesValue', Kind.base64],
])
arrayValue.define([['values', Kind.list, anyValue]])
keyValueList.define([['values', Kind.list, keyValue]])
keyValue.define([
  ['key', Kind.string, SCALAR, Note.attributeKey],
  ['value', Kind.message, anyValue],
])
resource.define([
  ['attributes', Kind.list, keyValue, Note.resourceAttributes],
  ['droppedAttributesCount', Kind.uint32],
])
scope.define([
  ['name', Kind.string],
  ['version', Kind.string],
  ['attributes', Kind.list, keyValue],
  ['droppedAttributesCount', Kind.uint32],
])
logRecord.define([
  ['timeUnixNano', Kind.uint64, SCALAR, Note.time],
  ['observedTimeUnixNano', Kind.uint64, SCALAR, Note.observedTime],
  ['severityNumber', Kind.int32],
  ['severityText', Kind.string],
  ['body', Kind.message, anyValue],
  ['attributes', Kind.list, keyValue],
  ['droppedAttributesCount', Kind.uint32],
  ['flags', Kind.uint32],
  ['traceId', Kind.string],
  ['spanId', Kind.string],
  ['eventName', Kind.string],
])
scopeLogs.define([
  ['scope', Kind.message, scope],
  ['logRecords', Kind.list, logRecord, Note.logRecords],
  ['schemaUrl', Kind.string],
])
resourceLogs.define([
  ['resource', Kind.message, resource, Note.resource],
  ['scopeLogs', Kind.list, scopeLogs, Note.scopeLogs],
  ['schemaUrl', Kind.string],
])
EXPORT_LOGS_REQUEST.define([['resourceLogs', Kind.list, resourceLogs, Note.resourceLogs]])
