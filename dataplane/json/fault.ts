/** Raised while bytes are read that are not as they must be; the entry function turns it into an error that names the field. */
export class Fault extends Error {
  /** Position in the received bytes. */
  readonly offset: number
  readonly expected: string
  constructor(offset: number, expected: string) {
    super(expected)
    this.name = 'Fault'
    this.offset = offset
    this.expected = expected
  }
}
