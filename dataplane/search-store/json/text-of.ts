/** Any JSON value as text. `String` throws for an object with a member named `toString`, which JSON may well have. */
export function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
