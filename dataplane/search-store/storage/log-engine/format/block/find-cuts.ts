/** Looks at a few documents for members whose values differ in nearly all of them, and for the ways of keeping these. */
import { CLOSE_OBJECT, COLON, COMMA, NOWHERE, OPEN_OBJECT, QUOTE, skipSpace, stringEnd } from '../../../../../json/bytes.ts'
import { roughEnd } from '../../../../../json/rough.ts'
import type { DocumentRows } from '../document-rows.ts'
import type { StagedDocument } from '../staged-document.ts'
import { NumberValues } from './cut-numbers.ts'
import { type CutValues, DerivedValues, HexValues, IdValues, KINDS, NoValues, TimeValues } from './cut-values.ts'
import { type Cut, DocumentCuts, MAX_CUTS } from './document-cuts.ts'
import { type Ingredient, LogIdValues } from './log-ids.ts'

const SAMPLE_DOCS = 24
/** Documents of the sample that must have a member for it to be cut out. */
const MIN_VALUES = 5
const MIN_DISTINCT_SHARE = 0.6
const MAX_KEY_BYTES = 128

/** Bytes of different texts of the sample that a cut between two values must save, and their share. */
const MIN_SAVED_BYTES = 400
const MIN_SAVED_SHARE = 0.12

interface Member {
  /** Bytes of the key, with its colon. */
  readonly key: Buffer
  /** Values by document of the sample. */
  readonly values: Map<number, { readonly source: Uint8Array; readonly start: number; readonly end: number }>
  readonly texts: Set<string>
  /** Key and value by document of the sample. */
  readonly byDoc: (string | undefined)[]
}

/** The documents from `from` to `to`. */
export function findCuts(documents: DocumentRows, from: number, to: number): DocumentCuts {
  const step = Math.max(1, Math.floor((to - from) / SAMPLE_DOCS))
  const sample: StagedDocument[] = []
  for (let k = from; k < to && sample.length < SAMPLE_DOCS; k += step) sample.push(documents.document(k))
  const sampleIds = Buffer.concat(sample.map(({ id }) => id.bytes))
  const members = membersOf(sample)
  const message = members.find(({ texts }) => texts.has(MESSAGE))
  let times: TimeValues | undefined
  const parts: Part[] = [{ cut: undefined, run: [] }]
  for (const member of members) {
    const values = member === message ? new NoValues() : parts.length > MAX_CUTS - 2 ? undefined : valuesOf(member, sampleIds, times)
    if (values === undefined) {
      parts.at(-1)!.run.push(member)
      continue
    }
    if (values instanceof TimeValues) times ??= values
    parts.push({ cut: { key: member === message ? NO_KEY : member.key, values }, run: [] })
  }
  splitRuns(parts, sample.length)
  const cuts = parts.flatMap(({ cut }) => cut ?? [])
  return new DocumentCuts(
    withLogIds(cuts, times),
    cuts.findIndex(({ key }) => key === NO_KEY),
  )
}

/** A cut and the members behind it, up to the next one; the first part has none. */
interface Part {
  readonly cut: Cut | undefined
  readonly run: Member[]
}

const NO_KEY = Buffer.alloc(0)

/** Cuts runs of members so that fewer texts differ, those first that gain most. */
function splitRuns(parts: Part[], documents: number): void {
  const splits = parts.map(({ run }) => bestSplit(run, documents))
  while (parts.length <= MAX_CUTS) {
    const saved = Math.max(...splits.map(split => split.saved))
    if (saved <= 0) return
    const part = splits.findIndex(split => split.saved === saved)
    const { cut, run } = parts[part]!
    const { at } = splits[part]!
    const pieces: Part[] = [
      { cut, run: run.slice(0, at) },
      { cut: { key: run[at]!.key, values: new NoValues() }, run: run.slice(at) },
    ]
    parts.splice(part, 1, ...pieces)
    splits.splice(part, 1, ...pieces.map(piece => bestSplit(piece.run, documents)))
  }
}

const LOG_ID = '"log_id":'
const TRACE_ID = '"trace_id":'
const SPAN_ID = '"span_id":'

/** Ids of log records need not be kept where trace, span and time are. */
function withLogIds(cuts: readonly Cut[], time: TimeValues | undefined): readonly Cut[] {
  if (time === undefined) return cuts
  const trace = ingredient(cuts, TRACE_ID)
  const span = ingredient(cuts, SPAN_ID)
  return cuts.map(cut =>
    cut.values.kind === KINDS.uuid && isKey(cut, LOG_ID) ? { ...cut, values: new LogIdValues(trace, span, time) } : cut,
  )
}

function ingredient(cuts: readonly Cut[], key: string): Ingredient | undefined {
  const cut = cuts.findIndex(each => isKey(each, key))
  const values = cuts[cut]?.values
  return values instanceof HexValues && values.kind === KINDS.hex ? { cut, values } : undefined
}

const isKey = ({ key }: Cut, text: string): boolean => Buffer.from(key).toString('latin1') === text

/** Undefined: its values stay in the text. */
function valuesOf(member: Member, ids: Uint8Array, times: TimeValues | undefined): CutValues | undefined {
  if (member.values.size < MIN_VALUES || member.texts.size < MIN_DISTINCT_SHARE * member.values.size) return undefined
  return waysOf(member, times).find(way => takesMost(way, member, ids))
}

/** The member at which a run is best cut, and the bytes that the cut saves; 0: too few. */
function bestSplit(run: readonly Member[], documents: number): { readonly at: number; readonly saved: number } {
  const whole = differingBytes(run, documents)
  let best = whole
  let at = 0
  for (let k = 1; k < run.length; k++) {
    const bytes = differingBytes(run.slice(0, k), documents) + differingBytes(run.slice(k), documents)
    if (bytes >= best || run[k]!.values.size < MIN_VALUES) continue
    best = bytes
    at = k
  }
  return { at, saved: whole - best < Math.max(MIN_SAVED_BYTES, MIN_SAVED_SHARE * whole) ? 0 : whole - best }
}

/** Length of all different texts that the members of a run make together. */
function differingBytes(run: readonly Member[], documents: number): number {
  const seen = new Set<string>()
  let bytes = 0
  for (let doc = 0; doc < documents; doc++) {
    let text = ''
    for (const member of run) text += member.byDoc[doc] ?? ''
    if (seen.has(text)) continue
    seen.add(text)
    bytes += text.length
  }
  return bytes
}

const MESSAGE = ' message'

/** Members of the documents of the sample, in an order that suits all where there is one. */
function membersOf(sample: readonly StagedDocument[]): Member[] {
  const members: Member[] = []
  const byKey = new Map<string, Member>()
  for (const [doc, { source, message }] of sample.entries()) {
    let before: Member | undefined
    for (let p = skipSpace(source, 0); source[p] === OPEN_OBJECT || source[p] === COMMA; ) {
      const keyStart = skipSpace(source, p + 1)
      const keyEnd = source[keyStart] === QUOTE ? stringEnd(source, keyStart) : NOWHERE
      if (keyEnd === NOWHERE || source[keyEnd] !== COLON || keyEnd - keyStart > MAX_KEY_BYTES) break
      const start = keyEnd + 1
      const end = roughEnd(source, start)
      if (end === NOWHERE) break
      const name = Buffer.from(source.subarray(keyStart, start)).toString('latin1')
      let member = byKey.get(name)
      if (member === undefined) {
        member = { key: Buffer.from(name, 'latin1'), values: new Map(), texts: new Set(), byDoc: [] }
        byKey.set(name, member)
        members.splice(before === undefined ? 0 : members.indexOf(before) + 1, 0, member)
      }
      member.values.set(doc, { source, start, end })
      const text = Buffer.from(source.subarray(start, end)).toString('latin1')
      member.texts.add(message?.start === start + 1 ? MESSAGE : text)
      member.byDoc[doc] = `${name}${text},`
      before = member
      p = skipSpace(source, end)
      if (source[p] === CLOSE_OBJECT) break
    }
  }
  return members
}

/** Ways that may suit a member, the best first. */
function waysOf({ values }: Member, times: TimeValues | undefined): CutValues[] {
  const [first] = values.values()
  const digits = first!.end - first!.start - 2
  return [
    new IdValues(),
    ...(times === undefined ? [] : [new DerivedValues(KINDS.subMillis, times), new DerivedValues(KINDS.epoch, times)]),
    ...(digits === 36 ? [new HexValues(16, true)] : []),
    ...(digits >= 4 && digits <= 256 && digits % 2 === 0 ? [new HexValues(digits / 2, false)] : []),
    new NumberValues(),
    new TimeValues(),
  ]
}

function takesMost(way: CutValues, { values }: Member, ids: Uint8Array): boolean {
  way.begin(ids)
  let taken = 0
  for (const [doc, { source, start, end }] of values) {
    if (way.take(doc, source, start) === end) taken++
  }
  return taken >= 0.75 * values.size
}
