/** Looks at a few documents for members whose values differ in nearly all of them, and for the ways of keeping these. */
import { CLOSE_OBJECT, COLON, COMMA, NOWHERE, OPEN_OBJECT, QUOTE, skipSpace, stringEnd } from '../../../../json/bytes.ts'
import { roughEnd } from '../../../../json/rough.ts'
import { NumberValues } from './cut-numbers.ts'
import { type CutValues, DerivedValues, HexValues, IdValues, KINDS, NoValues, TimeValues } from './cut-values.ts'
import { type Cut, DocumentCuts, MAX_CUTS } from './document-cuts.ts'
import { type Ingredient, LogIdValues } from './log-ids.ts'
import type { StagedDocument } from './staged-document.ts'

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

export function findCuts(documents: readonly StagedDocument[]): DocumentCuts {
  const step = Math.max(1, Math.floor(documents.length / SAMPLE_DOCS))
  const sample = documents.filter((_, k) => k % step === 0).slice(0, SAMPLE_DOCS)
  const sampleIds = sample.map(({ id }) => id.bytes)
  const members = membersOf(sample)
  const message = members.find(({ texts }) => texts.has(MESSAGE))
  let times: TimeValues | undefined
  const cuts: Cut[] = []
  let run: Member[] = []
  let messageAt = -1
  const endRun = () => {
    for (const { key } of run.length < 2 ? [] : bestCuts(run, sample.length, MAX_CUTS - 2 - cuts.length))
      cuts.push({ key, values: new NoValues() })
    run = []
  }
  for (const member of members) {
    const values = member === message ? new NoValues() : cuts.length >= MAX_CUTS - 2 ? undefined : valuesOf(member, sampleIds, times)
    if (values === undefined) {
      run.push(member)
      continue
    }
    endRun()
    if (values instanceof TimeValues) times ??= values
    if (member === message) messageAt = cuts.length
    cuts.push({ key: member === message ? Buffer.alloc(0) : member.key, values })
  }
  endRun()
  return new DocumentCuts(withLogIds(cuts, times), messageAt)
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
function valuesOf(member: Member, ids: readonly Uint8Array[], times: TimeValues | undefined): CutValues | undefined {
  if (member.values.size < MIN_VALUES || member.texts.size < MIN_DISTINCT_SHARE * member.values.size) return undefined
  return waysOf(member, times).find(way => takesMost(way, member, ids))
}

/** Members at which a run of them is cut so that fewer texts differ. */
function bestCuts(run: readonly Member[], documents: number, most: number): readonly Member[] {
  const whole = differingBytes(run, documents)
  let best = whole
  let at = 0
  for (let k = 1; most > 0 && k < run.length; k++) {
    const bytes = differingBytes(run.slice(0, k), documents) + differingBytes(run.slice(k), documents)
    if (bytes >= best || run[k]!.values.size < MIN_VALUES) continue
    best = bytes
    at = k
  }
  if (whole - best < Math.max(MIN_SAVED_BYTES, MIN_SAVED_SHARE * whole)) return []
  const left = bestCuts(run.slice(0, at), documents, most - 1)
  return [...left, run[at]!, ...bestCuts(run.slice(at), documents, most - 1 - left.length)]
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

function takesMost(way: CutValues, { values }: Member, ids: readonly Uint8Array[]): boolean {
  way.begin(ids)
  let taken = 0
  for (const [doc, { source, start, end }] of values) {
    if (way.take(doc, source, start) === end) taken++
  }
  return taken >= 0.75 * values.size
}
