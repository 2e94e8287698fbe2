/** A small file system of its own, which a test fills. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly path: string
  /** Takes all that is left of it; the file that holds it now. */
  fill(): string
  remove(): void
}

/** `size` as tmpfs takes it, such as `64k`. Undefined where nothing may be mounted: that needs root. */
export function mountSmallDisk(size: string): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'logpipeline-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    rmSync(path, { recursive: true, force: true })
    return undefined
  }
  return {
    path,
    fill() {
      const filler = join(path, 'filler')
      const file = openSync(filler, 'w')
      for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) while (takes(file, bytes));
      closeSync(file)
      return filler
    },
    remove() {
      execFileSync('umount', ['--lazy', path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}

function takes(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) > 0
  } catch {
    return false
  }
}
