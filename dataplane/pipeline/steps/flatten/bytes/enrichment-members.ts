import type { MlFeatures } from '../../../../domain/features/enrichment.ts'
import { type Enrichment, enrich } from '../../../../domain/features/enrichment.ts'

/** The ML fields and `enriched` as JSON members, remembered by the features: a service has the same ones from one reading of the feature store to the next. */
export class EnrichmentMembers {
  readonly #ofFeatures = new WeakMap<MlFeatures, Uint8Array>()
  readonly #withoutFeatures = membersOf(enrich(undefined))
  readonly #unreachable = membersOf(enrich('unreachable'))

  /** With a leading comma. */
  of(features: MlFeatures | undefined | 'unreachable'): Uint8Array {
    if (features === undefined) return this.#withoutFeatures
    if (features === 'unreachable') return this.#unreachable
    const known = this.#ofFeatures.get(features)
    if (known !== undefined) return known
    const members = membersOf(enrich(features))
    this.#ofFeatures.set(features, members)
    return members
  }
}

function membersOf(enrichment: Enrichment): Uint8Array {
  return Buffer.from(`,${JSON.stringify(enrichment).slice(1, -1)}`)
}
