/** Puts the tenant of an export into a request for the collector of the same process. */
import { EditedText } from '../otlp/edited-text.ts'
import { KnownOrigins } from '../otlp/known-origins.ts'
import { type Edit, type RequestLayout, settleEdits } from '../otlp/layout.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import type { ResourceOwner } from '../otlp/resource-owner.ts'
import { isObject } from '../otlp/sound-edits.ts'
import type { LocalExport } from '../otlp-intake/local-collector.ts'
import type { DroppedAttributes, Injection } from './attribute-names.ts'
import { injectJson } from './inject-json.ts'
import { injectProtobuf } from './inject-protobuf.ts'
import { LostWay, TenantEdits } from './tenant-edits.ts'

/**
 * The export of one tenant for the collector of this process. The tenant goes in where the collector finds the resources, so that
 * the bytes are gone over once; where records may hold what has to go, it is put in here. Throws `MalformedPayload`.
 */
export function localExport({ transport, body, source }: LocalExport, injection: Injection): LocalExport {
  const { record } = injection.dropped
  if (transport === 'http_json')
    return record.mayStandInJson(body)
      ? { transport, body: injectJson(body, injection), source }
      : { transport, body, source, arrange: layout => withTenant(layout, injection) }
  return record.mayStandIn(body)
    ? { transport, body: injectProtobuf(body, injection), source }
    : { transport, body, source, owner: ownerOf(injection) }
}

/** The request with the tenant as an attribute of each resource, and none of the client's. Records are not looked into. */
function withTenant(layout: RequestLayout, injection: Injection): RequestLayout {
  const { text, resources } = layout
  const edits = editsOf(text, injection, tenant => tenant.ofResources(resources))
  return {
    ...layout,
    resources: resources.map(resource => ({ ...resource, tenantId: injection.tenant })),
    edits: settleEdits([...layout.edits, ...edits]),
    needsEdits: true,
  }
}

/** The resources of senders, with their tenant, by what was dropped of them. */
const knownResources = new WeakMap<DroppedAttributes, KnownOrigins>()

function ownerOf(injection: Injection): ResourceOwner {
  const { tenant: tenantId, dropped } = injection
  let known = knownResources.get(dropped)
  if (known === undefined) {
    known = new KnownOrigins()
    knownResources.set(dropped, known)
  }
  return { tenantId, known, rewrite: resource => withTenantInside(resource, injection) }
}

function withTenantInside(resource: Uint8Array, injection: Injection): Uint8Array {
  const edits = editsOf(resource, injection, tenant => tenant.ofResource())
  const rewritten = new EditedText(resource, settleEdits(edits)).bytes(0, resource.length)
  if (!isObject(rewritten))
    throw new MalformedPayload('request body: expected resources that are JSON objects still once the tenant is in them')
  return rewritten
}

function editsOf(
  { buffer, byteOffset, length }: Uint8Array,
  injection: Injection,
  find: (edits: TenantEdits) => readonly Edit[],
): readonly Edit[] {
  try {
    return find(new TenantEdits(Buffer.from(buffer, byteOffset, length), injection))
  } catch (error) {
    if (error instanceof LostWay) throw new MalformedPayload('request body: expected OTLP logs', { cause: error })
    throw error
  }
}
