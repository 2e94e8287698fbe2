/** An event of an incident for which the rows are still to be written: kept in the incident itself, in one step with the change that it tells of. */
import type { Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { StateChange } from './outbox-row.ts'
import type { TicketEvent } from './ticket-event.ts'

export interface OwedEvent {
  /** Counts the events of an incident from 1. */
  readonly seq: number
  readonly event: TicketEvent
  /** ISO-8601. */
  readonly at: string
  /** The targets that get rows; absent: all to which the incident is routed. */
  readonly targets?: readonly TargetId[]
  /** The target that the change came from: it is not told. */
  readonly except?: TargetId
  /** The severity that the targets are told. */
  readonly severity?: Severity
  readonly change?: StateChange
  readonly news?: readonly string[]
  /** Its rows are written as suppressed, for this reason. */
  readonly quiet?: string
}
