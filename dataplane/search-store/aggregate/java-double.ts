/** Whole numbers with one decimal, as OpenSearch shows them in keys. */
export function javaDouble(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}
