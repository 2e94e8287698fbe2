/** The place in a listing where the next page goes on: creation time in ms and id of the last incident seen. */
export type IncidentCursor = readonly [createdAtMs: number, id: string]

export function formatCursor(cursor: IncidentCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

/** Undefined for anything that `formatCursor` did not make. */
export function parseCursor(text: string): IncidentCursor | undefined {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
  const isCursor = Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string'
  return isCursor ? (value as unknown as IncidentCursor) : undefined
}
