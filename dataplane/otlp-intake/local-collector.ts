import type { PartialSuccess } from '../otlp/export-response.ts'
import type { RequestLayout } from '../otlp/layout.ts'
import type { ResourceOwner } from '../otlp/resource-owner.ts'
import type { Steps } from '../otlp/steps.ts'

/** How a request came to its door. */
export type Transport = 'http_json' | 'http_protobuf' | 'grpc'

/** An export request that another door of the same process has read and unpacked. */
export interface LocalExport {
  readonly transport: Transport
  /** The collector's alone from here on. */
  readonly body: Buffer
  /** The sender of the request: the same object for requests that come one after the other. */
  readonly source: object
  /** The owner of the records of a request in protobuf. */
  readonly owner?: ResourceOwner | undefined
  /** Edits that the door makes once the parts of the request are known. Throws `MalformedPayload`. */
  readonly arrange?: ((layout: RequestLayout) => Steps<RequestLayout>) | undefined
}

/** The collector of the same process: what it takes it takes as it does at its own doors. */
export interface LocalCollector {
  /** Resolves once every record is durable or rejected for good. Rejects with a `Refusal`. */
  accept(request: LocalExport): Promise<PartialSuccess>
}
