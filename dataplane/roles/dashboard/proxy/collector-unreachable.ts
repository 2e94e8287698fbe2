import { HttpError } from '../../../http/http-error.ts'

/** Its body is `{ error }` alone (Spec: Errors). */
export class CollectorUnreachable extends HttpError {
  constructor(cause: unknown) {
    super(502, 'the request could not be forwarded to the collector', {}, { cause })
  }

  override toBody(): object {
    return { error: this.message }
  }
}
