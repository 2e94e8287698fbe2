/** A disk in memory, in which a suite sees what a power cut, or the end of the process, would leave of it at any moment. */
import { dirname, join } from 'node:path'

/** Never changed in place: contents at several moments share them. */
type Bytes = Buffer

interface File {
  bytes: Bytes
  synced: Bytes
}

type Names = ReadonlyMap<string, File>

/** Contents by path. */
export type Contents = ReadonlyMap<string, Bytes>

/** Bytes of a file that was not synced since they were written: lost, or the file is as long as it was, with zeros. */
const lost = ({ synced }: File): Bytes => synced
const zeros = ({ synced, bytes }: File): Bytes =>
  synced.length >= bytes.length ? synced : Buffer.concat([synced, Buffer.alloc(bytes.length - synced.length)])
const kept = ({ bytes }: File): Bytes => bytes

/** Names that were not synced: new ones are lost and old ones come back, or the removals alone are kept. */
const oldNames = (_: Names, synced: Names): Names => synced
const fewestNames = (now: Names, synced: Names): Names => new Map([...synced].filter(([path]) => now.has(path)))
const newNames = (now: Names): Names => now

/** Names and bytes that a stop leaves of a disk on which not all is synced. A disk syncs in any order: these are the extremes. */
const STOPS = {
  'kill -9': [newNames, kept],
  'data lost': [newNames, lost],
  'zeros for data': [newNames, zeros],
  'names lost': [oldNames, kept],
  'names and data lost': [oldNames, lost],
  'new names lost': [fewestNames, kept],
  'new names and data lost': [fewestNames, lost],
} as const
export type Stop = keyof typeof STOPS

export class PowerCutDisk {
  #names = new Map<string, File>()
  #synced = new Map<string, File>()
  /** Called before each change. */
  onChange: () => void = () => undefined

  /** A disk with these files, all of them durable. */
  static with(contents: Contents): PowerCutDisk {
    const disk = new PowerCutDisk()
    for (const [path, bytes] of contents) disk.#names.set(path, { bytes, synced: bytes })
    disk.#synced = new Map(disk.#names)
    return disk
  }

  /** The contents after each stop, without those that are the same as after a stop before. */
  afterAll(): ReadonlyMap<Stop, Contents> {
    const distinct = new Map<Stop, Contents>()
    for (const stop of Object.keys(STOPS) as Stop[]) {
      const contents = this.after(stop)
      if (![...distinct.values()].some(other => isSame(other, contents))) distinct.set(stop, contents)
    }
    return distinct
  }

  after(stop: Stop): Contents {
    const [namesAfter, bytesAfter] = STOPS[stop]
    return new Map(Array.from(namesAfter(this.#names, this.#synced), ([path, file]) => [path, bytesAfter(file)]))
  }

  /** The file of this name, which is made where it is missing. */
  open(path: string): File {
    const known = this.#names.get(path)
    if (known !== undefined) return known
    this.onChange()
    const file = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) }
    this.#names.set(path, file)
    return file
  }

  write(file: File, bytes: Uint8Array, position: number): void {
    this.onChange()
    const written = Buffer.alloc(Math.max(file.bytes.length, position + bytes.length))
    written.set(file.bytes)
    written.set(bytes, position)
    file.bytes = written
  }

  truncate(file: File, length: number): void {
    this.onChange()
    const cut = Buffer.alloc(length)
    cut.set(file.bytes.subarray(0, length))
    file.bytes = cut
  }

  sync(file: File): void {
    this.onChange()
    file.synced = file.bytes
  }

  rename(from: string, to: string): void {
    this.onChange()
    this.#names.set(to, this.#names.get(from)!)
    this.#names.delete(from)
  }

  remove(path: string): void {
    if (!this.#names.has(path)) return
    this.onChange()
    this.#names.delete(path)
  }

  syncDirectory(directory: string): void {
    this.onChange()
    const isIn = (path: string) => dirname(path) === directory
    for (const path of this.#synced.keys()) if (isIn(path)) this.#synced.delete(path)
    for (const [path, file] of this.#names) if (isIn(path)) this.#synced.set(path, file)
  }

  list(directory: string): readonly string[] {
    return [...this.#names.keys()].filter(path => dirname(path) === directory).map(path => path.slice(join(directory, '/').length))
  }
}

function isSame(a: Contents, b: Contents): boolean {
  return a.size === b.size && [...a].every(([path, bytes]) => b.get(path)?.equals(bytes) === true)
}
