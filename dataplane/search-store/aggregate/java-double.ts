/** A number as Java writes doubles, which OpenSearch shows in keys: `5.0`, `1.0E7`. */
export function javaDouble(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-3 && size < 1e7)) return withDecimal(String(value))
  const [digits, exponent] = value.toExponential().split('e')
  return exponent === undefined ? String(value) : `${withDecimal(digits!)}E${Number(exponent)}`
}

const withDecimal = (digits: string): string => (digits.includes('.') ? digits : `${digits}.0`)
