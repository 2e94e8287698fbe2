import type { KeyTable } from '../json/key-table.ts'

/** Which top-level members are read. */
export interface MemberPick {
  readonly names: KeyTable
  /** All keys below one of these, such as `code.line` below `code`. */
  readonly parents: KeyTable
}
