/** Files of segments. Of those that are only read no more than so many are open at a time: a day has thousands, and a process has a limit of the system. */
import { SnapshotGone } from '../../index-copy.ts'
import type { IndexFiles } from './index-files.ts'

interface Handle {
  readonly files: IndexFiles
  /** CLOSED: the next reading opens the file again. */
  fd: number
  wasRead: boolean
}

const CLOSED = -1

/** Open files of sealed segments in one process. */
const MAX_OPEN = 2_048
/** Those that may be closed, in the order in which they were opened. They know nothing of who reads them: files that nobody holds are closed. */
const closable = new Set<Handle>()

const handles = new FinalizationRegistry<Handle>(close)

function close(handle: Handle): void {
  closable.delete(handle)
  if (handle.fd !== CLOSED) handle.files.close(handle.fd)
  handle.fd = CLOSED
}

/** One that was read since it came stays for another round. */
function closeOldest(): void {
  for (const handle of closable) {
    if (!handle.wasRead) {
      close(handle)
      return
    }
    handle.wasRead = false
    closable.delete(handle)
    closable.add(handle)
  }
}

/**
 * An open file that lives as long as somebody reads it: a query may go on over a segment that was merged away or an index that was
 * deleted. Closes when nobody holds it any more, or at once by `close`.
 */
export class SegmentFile {
  readonly path: string
  readonly #handle: Handle
  /** Where the file is opened again. */
  #reopenPath: string | undefined
  #isOpen = true

  constructor(files: IndexFiles, path: string) {
    this.path = path
    this.#handle = { files, fd: files.open(path), wasRead: false }
    handles.register(this, this.#handle, this)
  }

  get sizeBytes(): number {
    return this.#handle.files.sizeOf(this.#fd)
  }

  /** Throws SnapshotGone where others have taken the file's descriptor and the file was removed then. */
  read(length: number, position: number): Buffer {
    if (!this.#isOpen) throw new Error(`${this.path} is closed`)
    this.#handle.wasRead = true
    return this.#handle.files.read(this.#fd, length, position)
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    await this.#handle.files.write(this.#fd, bytes, position)
  }

  /** Durable when it resolves. */
  async append(bytes: Uint8Array, position: number): Promise<void> {
    await this.#handle.files.write(this.#fd, bytes, position)
    await this.#handle.files.sync(this.#fd)
  }

  writeSync(bytes: Uint8Array, position: number): void {
    this.#handle.files.writeSync(this.#fd, bytes, position)
  }

  truncate(size: number): void {
    this.#handle.files.truncate(this.#fd, size)
  }

  /** The file is only read from now on, and stands at `path`: the descriptor may be given to others, and is opened again for the next reading. */
  shareDescriptor(path: string): void {
    if (!this.#isOpen || this.#reopenPath !== undefined) return
    this.#reopenPath = path
    this.#join()
  }

  /** The file is about to be removed: who reads it goes on. */
  keepDescriptor(): void {
    if (!this.#isOpen || this.#reopenPath === undefined) return
    this.#reopen()
    this.#reopenPath = undefined
    closable.delete(this.#handle)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    handles.unregister(this)
    close(this.#handle)
  }

  get #fd(): number {
    if (this.#handle.fd === CLOSED) this.#reopen()
    return this.#handle.fd
  }

  #reopen(): void {
    if (this.#handle.fd !== CLOSED || this.#reopenPath === undefined) return
    this.#handle.fd = reopened(this.#handle.files, this.#reopenPath)
    this.#join()
  }

  #join(): void {
    if (closable.size >= MAX_OPEN) closeOldest()
    closable.add(this.#handle)
  }
}

function reopened(files: IndexFiles, path: string): number {
  try {
    return files.reopen(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throw new SnapshotGone(path, { cause: error })
    throw error
  }
}
