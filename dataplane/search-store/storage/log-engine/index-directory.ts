/**
 * The files of one index: `index.json` (identity and mapping as of the last seal), `N.seg` (segments; those without a footer are
 * still written to), `N.del` (dead documents of a sealed segment), `N.idx` (the log of the index over a segment that is written to).
 */
import { join } from 'node:path'
import { createMapping, type MutableMapping, openMapping } from '../../mapping/mapping.ts'
import { type MappingConfig, mappingConfigOf } from '../../mapping/mapping-config.ts'
import { DeadDocuments } from './format/dead-documents.ts'
import { type IndexFiles, readWhole, replaceFile } from './format/index-files.ts'
import { SegmentFile } from './format/segment-file.ts'
import { SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'

export interface IndexIdentity {
  readonly uuid: string
  readonly createdAtMs: number
}

const stateFile = (dir: string) => join(dir, 'index.json')
export const segmentPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.seg`)
/** The log of the index over a tail. */
export const logPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.idx`)
export const deadPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.del`)

/** The stored identity and mapping, or new ones with the given configuration. */
export function openIdentity(files: IndexFiles, dir: string, config: MappingConfig, fresh: () => IndexIdentity) {
  files.makeDirectory(dir)
  if (files.list(dir).includes('index.json')) {
    const stored = JSON.parse(readWhole(files, stateFile(dir)).toString()) as IndexIdentity & {
      mappings: unknown
      totalFieldsLimit?: number
    }
    const mapping = openMapping(mappingConfigOf(stored.mappings, stored.totalFieldsLimit))
    return { identity: { uuid: stored.uuid, createdAtMs: stored.createdAtMs }, mapping, totalFieldsLimit: stored.totalFieldsLimit }
  }
  const identity = fresh()
  const mapping = createMapping(config)
  saveState(files, dir, identity, mapping, config.totalFieldsLimit)
  files.syncDirectory(dir)
  return { identity, mapping, totalFieldsLimit: config.totalFieldsLimit }
}

export function saveState(
  files: IndexFiles,
  dir: string,
  identity: IndexIdentity,
  mapping: MutableMapping,
  totalFieldsLimit: number | undefined,
): void {
  const state = { ...identity, ...(totalFieldsLimit === undefined ? {} : { totalFieldsLimit }), mappings: mapping.toJson() }
  replaceFile(files, stateFile(dir), Buffer.from(JSON.stringify(state)))
}

export interface OpenSegment {
  readonly number: number
  readonly file: SegmentFile
  /** No later segment has documents of its own; merged ones have those of others. */
  readonly isNewest: boolean
  /** Documents that are known to be dead beside those that its frames name. */
  readonly dead?: DeadDocuments | undefined
}

export interface FoundSegments {
  /** In order of arrival. */
  readonly sealed: readonly SealedSegment[]
  /** Not sealed, in order of arrival; usually one. */
  readonly open: readonly OpenSegment[]
  readonly nextNumber: number
}

/** Opens all segments; removes what an interrupted merge or seal left behind, and logs, which are of use to the process that wrote them alone. */
export function openSegments(context: SegmentContext, dir: string): FoundSegments {
  const { files } = context
  const names = files.list(dir)
  for (const name of names) if (name.endsWith('.tmp') || name.endsWith('.idx')) files.remove(join(dir, name))
  const numbers = names.filter(name => /^\d+\.seg$/.test(name)).map(name => Number.parseInt(name, 10))
  // There may be thousands.
  const known = new Set(names)
  for (const name of names) if (name.endsWith('.del') && !known.has(name.replace('.del', '.seg'))) files.remove(join(dir, name))
  const sealed = new Map<number, SealedSegment>()
  const open: Omit<OpenSegment, 'isNewest'>[] = []
  for (const number of numbers.sort((a, b) => a - b)) {
    const file = new SegmentFile(files, segmentPath(dir, number))
    const dead = known.has(`${String(number).padStart(8, '0')}.del`) ? DeadDocuments.load(files, deadPath(dir, number)) : undefined
    const segment = SealedSegment.open(context, number, file, dead)
    if (segment !== undefined) {
      file.shareDescriptor(file.path)
      sealed.set(number, segment)
    } else if (file.sizeBytes > 0) open.push({ number, file, dead })
    else {
      file.close()
      removeSegment(files, dir, number)
    }
  }
  const newest = Math.max(...open.map(({ number }) => number), ...ownNumbers(sealed.values()))
  for (const segment of sealed.values())
    for (const number of segment.replaces) {
      sealed.get(number)?.file.close()
      if (sealed.delete(number)) removeSegment(files, dir, number)
    }
  return {
    sealed: [...sealed.values()].sort((a, b) => a.firstSeqNo - b.firstSeqNo),
    open: open.map(segment => ({ ...segment, isNewest: segment.number === newest })),
    nextNumber: (numbers.at(-1) ?? 0) + 1,
  }
}

/** The numbers of segments that were written to, and not merged of others. */
const ownNumbers = (sealed: Iterable<SealedSegment>): number[] =>
  Array.from(sealed).flatMap(({ number, replaces }) => (replaces.length === 0 ? [number] : []))

export function removeSegment(files: IndexFiles, dir: string, number: number): void {
  files.remove(segmentPath(dir, number))
  files.remove(deadPath(dir, number))
}
