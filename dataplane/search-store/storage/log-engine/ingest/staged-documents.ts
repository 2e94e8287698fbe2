/** The documents of one commit, in order, before it is durable, and blocks that others have made of them. */
import type { PackedBlock } from '../format/block/block.ts'
import { DocumentRows } from '../format/document-rows.ts'

export class StagedDocuments {
  readonly rows = new DocumentRows()
  /** By the place of the first document, in order. */
  #blocks: (readonly [at: number, block: PackedBlock])[] = []

  clear(): void {
    this.rows.clear()
    this.#blocks = []
  }

  /** Takes a block that holds the documents from `at` to the last one. */
  addBlock(at: number, block: PackedBlock): void {
    this.#blocks.push([at, block])
  }

  get blocks(): readonly (readonly [at: number, block: PackedBlock])[] {
    return this.#blocks
  }
}
