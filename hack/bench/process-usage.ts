/** Costs of a process, read from /proc (Linux). */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** A process and those that it has started and that run. */
export function family(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(family)]
}

/** CPU seconds of all threads since the process began; those of its processes are counted in. */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, each) => sum + readCpu(`/proc/${each}/stat`), 0)
}

/** The same by thread name; threads of one name are added up, a process that it has started counts as one thread. */
export function cpuSecondsByThread(pid: number): Record<string, number> {
  const [, ...processes] = family(pid)
  const byName: Record<string, number> = {}
  for (const each of processes) byName['its processes'] = (byName['its processes'] ?? 0) + readCpu(`/proc/${each}/stat`)
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim()
    byName[name] = (byName[name] ?? 0) + readCpu(`/proc/${pid}/task/${thread}/stat`)
  }
  return byName
}

function readCpu(file: string): number {
  const stat = readFileSync(file, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export interface ResidentMemory {
  readonly nowMb: number
  readonly peakMb: number
}

/** Memory of the process and of the processes that it has started. */
export function residentMemory(pid: number): ResidentMemory {
  const all = family(pid).map(memoryOf)
  return { nowMb: sum(all.map(each => each.nowMb)), peakMb: sum(all.map(each => each.peakMb)) }
}

const sum = (figures: readonly number[]): number => figures.reduce((total, each) => total + each, 0)

function memoryOf(pid: number): ResidentMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024)
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') }
}

/** Resident memory of one process by what it is, MB. */
export interface MemoryByKind {
  readonly residentMb: number
  /** Programs and libraries, whose pages processes share. */
  readonly filesMb: number
  /** The allocator's heap: buffers of less than 64 KiB, and what Node and V8 allocate. */
  readonly allocatorMb: number
  /** Pages of V8's heaps, which are aligned to 256 KiB. */
  readonly heapsMb: number
  /** Large buffers, stacks, compiled code. */
  readonly otherMb: number
}

const HEAP_PAGE_BYTES = 256n * 1024n

export function memoryByKind(pid: number): MemoryByKind {
  const kilobytes = { files: 0, allocator: 0, heaps: 0, other: 0 }
  let kind: keyof typeof kilobytes = 'other'
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const [, start, end, path] = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ *(.*)$/.exec(line) ?? []
    if (start !== undefined && end !== undefined) kind = kindOf(BigInt(`0x${start}`), BigInt(`0x${end}`), path ?? '')
    else if (line.startsWith('Rss:')) kilobytes[kind] += Number(/\d+/.exec(line)?.[0])
  }
  const megabytes = (value: number) => Math.round(value / 102.4) / 10
  const { files, allocator, heaps, other } = kilobytes
  return {
    residentMb: megabytes(files + allocator + heaps + other),
    filesMb: megabytes(files),
    allocatorMb: megabytes(allocator),
    heapsMb: megabytes(heaps),
    otherMb: megabytes(other),
  }
}

function kindOf(start: bigint, end: bigint, path: string): 'files' | 'allocator' | 'heaps' | 'other' {
  if (path.startsWith('/')) return 'files'
  if (path === '[heap]') return 'allocator'
  const isAligned = start % HEAP_PAGE_BYTES === 0n && (end - start) % HEAP_PAGE_BYTES === 0n
  return path === '' && isAligned ? 'heaps' : 'other'
}

/** Lets the peak count from now on. */
export function resetPeakMemory(pid: number): void {
  for (const each of family(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5')
}

/** Bytes that the files below a directory take on disk. */
export function diskBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => sum + allocatedBytes(join(directory, name)), 0)
}

/** Bytes on disk of each entry of a directory. */
export function diskBytesByEntry(directory: string): Record<string, number> {
  return Object.fromEntries(
    readdirSync(directory, { withFileTypes: true }).map(entry => [
      entry.name,
      entry.isDirectory() ? diskBytes(join(directory, entry.name)) : allocatedBytes(join(directory, entry.name)),
    ]),
  )
}

/** 0 for a file that has just gone. */
function allocatedBytes(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512
}
