/** Ticketing configuration that is declared beside what callers set by PATCH, and wins over it. */
import type { DeclaredTicketing } from '../contract/declared-ticketing.ts'
import type { Severity } from '../contract/platforms.ts'
import type { TargetId } from '../contract/target-id.ts'

export interface DeclaredPlatform {
  /** `namespace/name` of the TicketingRoute that declares it. */
  readonly owner: string
  /** All fields, secret ones too; complete. */
  readonly fields: Readonly<Record<string, string | number>>
}

export interface DeclaredRoute {
  /** `namespace/name` of the TicketingRoute. */
  readonly owner: string
  /** One of the layer's platforms. */
  readonly platform: TargetId
  readonly severities: readonly Severity[]
  /** With `*` for any characters and `?` for one; all services when absent. */
  readonly services?: readonly string[]
  /** Used on escalate only. */
  readonly escalation: boolean
}

/** Each field of the layer wins over the value that a tenant set. */
export type DeclaredAnomaly = Readonly<NonNullable<DeclaredTicketing['anomaly']>>

export interface DeclaredLayer {
  readonly anomaly: DeclaredAnomaly
  readonly llm?: NonNullable<DeclaredTicketing['llm']> & { readonly apiKey?: string }
  readonly platforms: Readonly<Partial<Record<TargetId, DeclaredPlatform>>>
  /** The oldest first. */
  readonly routes: readonly DeclaredRoute[]
}

export interface DeclaredTicketingSource {
  /** The last layer that could be used; undefined: nothing is declared. */
  current(): DeclaredLayer | undefined
  /** Problems of the files as they are now, each with file, field, expected and seen value; empty while they can be used. */
  problems(): readonly string[]
  /** Resolves once it has been read; from then on changes are noticed within seconds. */
  start(): Promise<void>
  stop(): Promise<void>
}
