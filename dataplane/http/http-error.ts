/** Characters of a message; the rest is counted. Messages quote what a caller sent. */
const MAX_MESSAGE = 10_000

/** An answer that is an error: `{ "error": string, "status": integer }` (Spec: Errors; Decisions 7). An API with a shape of its own says it in `toBody`. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, options?: ErrorOptions) {
    super(cut(message), options)
    this.name = 'HttpError'
    this.status = status
    this.headers = headers
  }

  toBody(): object {
    return errorBody(this.status, this.message)
  }
}

/** The body of an error that its server gives no form of its own. */
export type ErrorBody = (status: number, message: string) => object

export function errorBody(status: number, message: string): { readonly error: string; readonly status: number } {
  return { error: message, status }
}

function cut(message: string): string {
  const more = message.length - MAX_MESSAGE
  return more > 0 ? `${message.slice(0, MAX_MESSAGE)}… (${more} more characters)` : message
}
