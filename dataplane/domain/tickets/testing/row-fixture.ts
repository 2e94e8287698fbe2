import type { OutboxRow } from '../outbox-row.ts'

/** A row that waits; `overrides` replace fields. */
export function buildRow(overrides: Partial<OutboxRow> = {}): OutboxRow {
  const { seq = 1 } = overrides
  return {
    id: `row-${seq}`,
    seq,
    event: 'open',
    status: 'pending',
    createdAt: '2026-01-01T00:00:00.000Z',
    deadlineAt: '2026-01-02T00:00:00.000Z',
    attempts: 0,
    nextAttemptAt: '2026-01-01T00:00:00.000Z',
    news: [],
    ...overrides,
  }
}
