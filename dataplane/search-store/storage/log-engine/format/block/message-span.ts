/** Where a document's message stands in its JSON, quotes not included. */
export interface MessageSpan {
  readonly start: number
  readonly end: number
}
