/** More would come out of compressed bytes than is allowed. */
export class TooLong extends RangeError {
  constructor(format: string, maxBytes: number) {
    super(`${format}: more than ${maxBytes} bytes come out`)
    this.name = 'TooLong'
  }
}
