import type { IndexFiles } from './index-files.ts'

interface Handle {
  readonly files: IndexFiles
  readonly fd: number
}

const handles = new FinalizationRegistry<Handle>(({ files, fd }) => files.close(fd))

/**
 * An open file that lives as long as somebody reads it: a query may go on over a segment that was merged away or an index that was
 * deleted. Closes when nobody holds it any more, or at once by `close`.
 */
export class SegmentFile {
  readonly path: string
  readonly #files: IndexFiles
  readonly #fd: number
  #isOpen = true

  constructor(files: IndexFiles, path: string) {
    this.path = path
    this.#files = files
    this.#fd = files.open(path)
    handles.register(this, { files, fd: this.#fd }, this)
  }

  get sizeBytes(): number {
    return this.#files.sizeOf(this.#fd)
  }

  read(length: number, position: number): Buffer {
    if (!this.#isOpen) throw new Error(`${this.path} is closed`)
    return this.#files.read(this.#fd, length, position)
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    await this.#files.write(this.#fd, bytes, position)
  }

  /** Durable when it resolves. */
  async append(bytes: Uint8Array, position: number): Promise<void> {
    await this.#files.write(this.#fd, bytes, position)
    await this.#files.sync(this.#fd)
  }

  writeSync(bytes: Uint8Array, position: number): void {
    this.#files.writeSync(this.#fd, bytes, position)
  }

  truncate(size: number): void {
    this.#files.truncate(this.#fd, size)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    handles.unregister(this)
    this.#files.close(this.#fd)
  }
}
