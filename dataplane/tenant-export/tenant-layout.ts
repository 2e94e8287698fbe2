/** Puts the tenant of an export into a request for the collector of the same process. */
import { MAX_PART_BYTES } from '../contract/topics.ts'
import { bufferOf } from '../memory/buffer-of.ts'
import { EditedText } from '../otlp/edited-text.ts'
import { KnownOrigins } from '../otlp/known-origins.ts'
import { type RequestLayout, settleEdits } from '../otlp/layout.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import type { ResourceOwner } from '../otlp/resource-owner.ts'
import { isObject } from '../otlp/sound-edits.ts'
import type { Steps } from '../otlp/steps.ts'
import type { LocalExport } from '../otlp-intake/local-collector.ts'
import type { DroppedAttributes, Injection } from './attribute-names.ts'
import { injectTenant } from './inject-tenant.ts'
import { TenantEdits } from './tenant-edits.ts'

/**
 * The export of one tenant for the collector of this process. The tenant goes in where the collector finds the resources, so that
 * the bytes are gone over once; where records may hold what has to go, it is put in here. Throws `MalformedPayload` or `OversizedPayload`.
 */
export function localExport(sent: LocalExport, injection: Injection): LocalExport | Promise<LocalExport> {
  const { transport, body, source } = sent
  const { record } = injection.dropped
  const isJson = transport === 'http_json'
  if (!(isJson ? record.mayStandInJson(body) : record.mayStandIn(body)))
    return isJson ? { ...sent, arrange: layout => withTenant(layout, injection) } : { ...sent, owner: ownerOf(injection) }
  const injected = injectTenant(transport, body, injection)
  return injected instanceof Promise ? injected.then(whole => ({ transport, body: whole, source })) : { transport, body: injected, source }
}

/** The request with the tenant as an attribute of each resource, and none of the client's. Records are not looked into. */
function* withTenant(layout: RequestLayout, injection: Injection): Steps<RequestLayout> {
  const { text, resources } = layout
  const edits = yield* new TenantEdits(bufferOf(text), injection).ofResources(resources, MAX_PART_BYTES)
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
  const edits = new TenantEdits(bufferOf(resource), injection).ofResource()
  const rewritten = new EditedText(resource, edits).bytes(0, resource.length)
  if (!isObject(rewritten))
    throw new MalformedPayload('request body: expected resources that are JSON objects still once the tenant is in them')
  return rewritten
}
