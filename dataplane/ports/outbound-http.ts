/** Requests to addresses that users configured: ticket platforms, language models. */

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is; an object as JSON with its content type. */
  readonly body?: string | object
  /** From the first byte sent to the last one read. */
  readonly timeoutMs: number
  /** Default 1 MiB: what is longer is cut off, and `isCut`. */
  readonly maxAnswerBytes?: number
}

export interface OutboundAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly isCut: boolean
}

/**
 * Follows no redirects. https and public addresses only, unless private targets are allowed; metadata and link-local addresses never, nor the product's
 * own servers. The address that was checked is the one that is connected to.
 */
export interface OutboundHttp {
  /** Rejects with `TargetRefused` or `TargetUnreachable`. */
  request(request: OutboundRequest, signal?: AbortSignal): Promise<OutboundAnswer>
  close(): Promise<void>
}

/** The address may not be spoken to, or is not to be trusted; nothing was sent. The message says why, and what to do. */
export class TargetRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TargetRefused'
  }
}

/** No answer came. `wasSent`: the request may have reached the other side. */
export class TargetUnreachable extends Error {
  readonly wasSent: boolean
  constructor(message: string, wasSent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TargetUnreachable'
    this.wasSent = wasSent
  }
}
