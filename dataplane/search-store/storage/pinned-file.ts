/** A file of an index as it was at one moment, under a name that merges and deletions leave alone. */
export interface PinnedFile {
  readonly path: string
  /** How much of it belongs to that moment, bytes; what comes behind was written later. Absent: all of it. */
  readonly bytes?: number
}
