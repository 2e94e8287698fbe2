import { type RequestLayout, settleEdits } from '../otlp/layout.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import type { LocalExport } from '../otlp-intake/local-collector.ts'
import type { Injection } from './attribute-names.ts'
import { injectJson } from './inject-json.ts'
import { injectProtobuf } from './inject-protobuf.ts'
import { LostWay, TenantEdits } from './tenant-edits.ts'

/**
 * The export of one tenant for the collector of this process. The tenant goes in where the collector has found the parts, so that
 * the bytes are gone over once; where records may hold what has to go, it is put in here. Throws `MalformedPayload`.
 */
export function localExport({ transport, body, source }: LocalExport, injection: Injection): LocalExport {
  const isJson = transport === 'http_json'
  const { record } = injection.dropped
  if (isJson ? record.mayStandInJson(body) : record.mayStandIn(body))
    return { transport, body: (isJson ? injectJson : injectProtobuf)(body, injection), source }
  return { transport, body, source, arrange: layout => withTenant(layout, injection) }
}

/** The request with the tenant as an attribute of each resource, and none of the client's. Records are not looked into. */
export function withTenant(layout: RequestLayout, injection: Injection): RequestLayout {
  const { text, resources } = layout
  try {
    const edits = new TenantEdits(Buffer.from(text.buffer, text.byteOffset, text.length), injection).ofResources(resources)
    return {
      ...layout,
      resources: resources.map(resource => ({ ...resource, tenantId: injection.tenant })),
      edits: settleEdits([...layout.edits, ...edits]),
      needsEdits: true,
    }
  } catch (error) {
    if (error instanceof LostWay) throw new MalformedPayload('request body: expected OTLP logs', { cause: error })
    throw error
  }
}
