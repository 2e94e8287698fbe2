/**
 * The files of one index: `index.json` (identity, mapping and list of segments as of the last seal or merge), `N.seg` (segments; those without
 * a footer are still written to), `N.del` (dead documents of a sealed segment), `N.idx` (the log of the index over a segment that is written to),
 * `N.lost` (made by hand: the loss of the segment's documents is accepted).
 */
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { createMapping, type MutableMapping, openMapping } from '../../mapping/mapping.ts'
import { type MappingConfig, mappingConfigOf } from '../../mapping/mapping-config.ts'
import { DeadDocuments } from './format/dead-documents.ts'
import { type IndexFiles, readWhole, replaceFile } from './format/index-files.ts'
import { SegmentFile } from './format/segment-file.ts'
import { DamagedDirectory, SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'
import { type ListedSegment, type Loss, lastListed, listOfRows, lossesOf, rowsOf } from './segment-list.ts'
import { hasCommits, replacedBy } from './tail/read-frame.ts'

export interface IndexIdentity {
  readonly uuid: string
  readonly createdAtMs: number
}

const stateFile = (dir: string) => join(dir, 'index.json')
export const segmentPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.seg`)
/** The log of the index over a tail. */
export const logPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.idx`)
export const deadPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.del`)

/** Made by hand where the loss of a segment's documents is accepted. */
export const lostPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.lost`)

type StoredState = IndexIdentity & {
  readonly mappings: unknown
  readonly totalFieldsLimit?: number
  /** Absent where a version without the list wrote the file. */
  readonly segments?: Parameters<typeof listOfRows>[0]
}

/**
 * The stored identity, mapping and list of segments, or new ones with the given configuration. Throws where they were there and are not any more:
 * `isThere` says that the index was made before.
 */
export function openIdentity(files: IndexFiles, dir: string, config: MappingConfig, fresh: () => IndexIdentity, isThere = false) {
  // Not made anew where it was there: what is moved to its name would come to lie in it.
  if (isThere && !files.isThere(dir)) throw new Error(`${dir} is missing: it held all of the index's documents`)
  if (!isThere) files.makeDirectory(dir)
  const names = files.list(dir)
  if (names.includes('index.json')) {
    const stored = readState(files, stateFile(dir))
    const mapping = openMapping(mappingConfigOf(stored.mappings, stored.totalFieldsLimit))
    const identity = { uuid: stored.uuid, createdAtMs: stored.createdAtMs }
    return { identity, mapping, totalFieldsLimit: stored.totalFieldsLimit, listed: listOfRows(stored.segments ?? []) }
  }
  // `mv` and `cp -r` put a directory into one of the same name.
  const [inner] = names.filter(name => files.isThere(stateFile(join(dir, name))))
  if (inner !== undefined)
    throw new Error(
      `${stateFile(dir)} is missing: the files of the index are one level too deep, in ${join(dir, inner)}; move them to ${dir}`,
    )
  if (isThere || names.some(name => name.endsWith('.seg')))
    throw new Error(`${stateFile(dir)} is missing: it says what the fields are, and which segments there must be`)
  const identity = fresh()
  const mapping = createMapping(config)
  const { totalFieldsLimit } = config
  saveState(files, dir, { identity, mapping, totalFieldsLimit, segments: [] })
  files.syncDirectory(dir)
  return { identity, mapping, totalFieldsLimit, listed: [] }
}

/** An index as `index.json` describes it. */
export interface IndexState {
  readonly identity: IndexIdentity
  readonly mapping: MutableMapping
  readonly totalFieldsLimit: number | undefined
  readonly segments: readonly ListedSegment[]
}

export function saveState(files: IndexFiles, dir: string, { identity, mapping, totalFieldsLimit, segments }: IndexState): void {
  const limit = totalFieldsLimit === undefined ? {} : { totalFieldsLimit }
  const text = JSON.stringify({ ...identity, ...limit, segments: rowsOf(segments), mappings: mapping.toJson() })
  replaceFile(files, stateFile(dir), Buffer.from(`${text.slice(0, -1)},"crc32":${crc32(text)}}`))
}

const CHECKSUM = /,"crc32":(\d+)\}$/

/** Throws where the file is damaged. That of a version without the list has no checksum. */
function readState(files: IndexFiles, path: string): StoredState {
  const text = readWhole(files, path).toString()
  const checksum = CHECKSUM.exec(text)
  if (checksum !== null && crc32(`${text.slice(0, checksum.index)}}`) !== Number(checksum[1]))
    throw new Error(`${path} is damaged: its checksum does not fit`)
  const state = parseState(path, text)
  if (checksum === null && state.segments !== undefined) throw new Error(`${path} is damaged: its checksum is missing`)
  return state
}

function parseState(path: string, text: string): StoredState {
  try {
    return JSON.parse(text) as StoredState
  } catch (cause) {
    throw new Error(`${path} is damaged: ${text === '' ? 'it is empty' : 'it is no JSON'}`, { cause })
  }
}

export interface OpenSegment {
  readonly number: number
  readonly file: SegmentFile
  /** No later segment has documents of its own; merged ones have those of others. */
  readonly isNewest: boolean
  /** Documents that are known to be dead beside those that its frames name. */
  readonly dead?: DeadDocuments | undefined
  /** As the list names it. */
  readonly listed: ListedSegment | undefined
  /** Its commits end there at the earliest; 0: that is not known, or their loss is accepted. */
  readonly leastEnd: number
}

export interface FoundSegments {
  /** In order of arrival. */
  readonly sealed: readonly SealedSegment[]
  /** Not sealed, or without their index; usually one. That which may be written to comes last. */
  readonly open: readonly OpenSegment[]
  readonly nextNumber: number
  /** Numbers of segments whose loss was accepted by hand. */
  readonly accepted: readonly number[]
}

/**
 * Opens all segments; removes what an interrupted merge or seal left behind, and logs, which are of use to the process that wrote them alone.
 * Throws where a listed segment is missing or has less than it had; nothing is removed then.
 */
export function openSegments(context: SegmentContext, dir: string, listed: readonly ListedSegment[]): FoundSegments {
  const { files } = context
  const names = files.list(dir)
  const numbers = names.filter(name => /^\d+\.seg$/.test(name)).map(name => Number.parseInt(name, 10))
  // There may be thousands.
  const known = new Set(names)
  const sealed = new Map<number, SealedSegment>()
  const unsealed: Omit<OpenSegment, 'isNewest' | 'listed' | 'leastEnd'>[] = []
  const seen = new Map<number, { readonly bytes: number; readonly dead: number }>()
  for (const number of numbers.sort((a, b) => a - b)) {
    const file = new SegmentFile(files, segmentPath(dir, number))
    const dead = known.has(basename(deadPath(dir, number))) ? DeadDocuments.load(files, deadPath(dir, number)) : undefined
    const segment = openSealed(context, number, file, dead)
    seen.set(number, { bytes: file.sizeBytes, dead: dead?.count ?? 0 })
    if (segment === undefined) unsealed.push({ number, file, dead })
    else {
      file.shareDescriptor(file.path)
      sealed.set(number, segment)
    }
  }
  const merged = new Map(unsealed.map(({ number, file }) => [number, replacedBy(file)]))
  const replaced = new Set([...[...sealed.values()].flatMap(({ replaces }) => replaces), ...[...merged.values()].flat()])
  const accepted = new Set(names.filter(name => /^\d+\.lost$/.test(name)).map(name => Number.parseInt(name, 10)))
  const losses = lossesOf(listed, { segments: seen, replaced, accepted })
  if (losses.length > 0) {
    for (const { file } of [...sealed.values(), ...unsealed]) file.close()
    throw new Error(lossText(dir, losses))
  }
  const copied = copiedOf([...sealed.values()].filter(({ number }) => !replaced.has(number)))
  if (copied !== undefined) {
    for (const { file } of [...sealed.values(), ...unsealed]) file.close()
    throw new Error(copiedText(dir, copied))
  }
  removeLeftovers(files, dir, names, known)
  const isOver = ({ number }: { readonly number: number }) => seen.get(number)!.bytes === 0 || replaced.has(number)
  for (const { number, file } of unsealed.filter(isOver)) {
    file.close()
    removeSegment(files, dir, number)
  }
  const written = unsealed.filter(each => !isOver(each))
  const own = written.map(({ number }) => number).filter(number => merged.get(number)!.length === 0)
  const newest = Math.max(...own, ...ownNumbers(sealed.values()))
  for (const number of replaced) {
    sealed.get(number)?.file.close()
    if (sealed.delete(number)) removeSegment(files, dir, number)
  }
  const rows = new Map(listed.map(each => [each.number, each]))
  return {
    sealed: [...sealed.values()].sort((a, b) => a.firstSeqNo - b.firstSeqNo),
    open: written
      .map(segment => {
        const row = rows.get(segment.number)
        const leastEnd = row?.areCommits === true && !accepted.has(segment.number) ? row.bytes : 0
        return { ...segment, isNewest: segment.number === newest, listed: row, leastEnd }
      })
      .sort((a, b) => Number(a.isNewest) - Number(b.isNewest)),
    nextNumber: Math.max(numbers.at(-1) ?? 0, lastListed(listed)) + 1,
    accepted: [...accepted],
  }
}

/** Two segments with the same documents: each has numbers of its own, so that one was copied over another. */
function copiedOf(segments: readonly SealedSegment[]): readonly [number, number] | undefined {
  const byFirst = new Map<number, number>()
  for (const { number, firstSeqNo, size } of segments) {
    if (size === 0) continue
    const other = byFirst.get(firstSeqNo)
    if (other !== undefined) return [other, number]
    byFirst.set(firstSeqNo, number)
  }
  return undefined
}

function copiedText(dir: string, [first, second]: readonly [number, number]): string {
  const [path, other] = [segmentPath(dir, first), segmentPath(dir, second)]
  const wayOut = `without a backup, remove the one that is not in its place, \`touch\` a file of its name with .lost for .seg, and start again`
  return `${path} and ${other} hold the same documents: one was copied over the other; ${wayOut}`
}

/** Undefined where the segment is not sealed, or has lost its directory and can be indexed anew. */
function openSealed(
  context: SegmentContext,
  number: number,
  file: SegmentFile,
  dead: DeadDocuments | undefined,
): SealedSegment | undefined {
  try {
    return SealedSegment.open(context, number, file, dead)
  } catch (error) {
    if (error instanceof DamagedDirectory && hasCommits(file)) return undefined
    throw error
  }
}

function removeLeftovers(files: IndexFiles, dir: string, names: readonly string[], known: ReadonlySet<string>): void {
  for (const name of names) if (name.endsWith('.tmp') || name.endsWith('.idx')) files.remove(join(dir, name))
  for (const name of names) if (name.endsWith('.del') && !known.has(name.replace('.del', '.seg'))) files.remove(join(dir, name))
}

/** Names one file, as each has to be put back anyway. */
function lossText(dir: string, losses: readonly Loss[]): string {
  const [{ listed, seen } = losses[0]!] = losses
  const others = losses.length === 1 ? '' : `, and ${losses.length - 1} more of its segments are missing or damaged`
  const wayOut = `without a backup, \`touch ${lostPath(dir, listed.number)}\` and a restart go on with what is left`
  return `${lossOf(dir, listed, seen)}${others}; ${wayOut}`
}

function lossOf(dir: string, { number, bytes, dead }: ListedSegment, seen: Loss['seen']): string {
  const path = segmentPath(dir, number)
  if (seen === undefined) return `${path} is missing: it had at least ${bytes} bytes`
  if (seen.bytes < bytes) return `${path} is damaged at byte ${seen.bytes}: it ends there, and had at least ${bytes} bytes`
  return `${deadPath(dir, number)} is missing or damaged: it names ${seen.dead} deleted documents, and named at least ${dead}`
}

/** The numbers of segments that were written to, and not merged of others. */
const ownNumbers = (sealed: Iterable<SealedSegment>): number[] =>
  Array.from(sealed).flatMap(({ number, replaces }) => (replaces.length === 0 ? [number] : []))

export function removeSegment(files: IndexFiles, dir: string, number: number): void {
  files.remove(segmentPath(dir, number))
  files.remove(deadPath(dir, number))
}
