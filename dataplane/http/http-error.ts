/** An answer that is an error: `{ "error": string, "status": integer }` (Spec: Errors; Decisions 7). An API with a shape of its own says it in `toBody`. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = 'HttpError'
    this.status = status
    this.headers = headers
  }

  toBody(): object {
    return errorBody(this.status, this.message)
  }
}

export function errorBody(status: number, message: string): { readonly error: string; readonly status: number } {
  return { error: message, status }
}
