/** A payload that is not OTLP; the message names the field, what was expected and what was seen. */
export class MalformedPayload extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MalformedPayload'
  }
}

/** A payload whose bookkeeping or JSON form would take too much memory, though its bytes are within the limit. */
export class OversizedPayload extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OversizedPayload'
  }
}
